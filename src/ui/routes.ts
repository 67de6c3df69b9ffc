import { TOKEN_PARAMETER } from './protocol.ts';

/** Screen that the fragment of the URL names. */
export type Screen =
  | { screen: 'overview' }
  | { screen: 'volumes'; phase: string; node: string }
  | { screen: 'volume'; name: string }
  | { screen: 'unknown' };

/** Returns the screen of a fragment, such as `#/volumes/data1`. Pure. */
export function screenOf(hash: string): Screen {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?');
  const parameters = new Map(query.split('&').map((pair) => decodedPair(pair)));
  if (path === '' || path === '/') return { screen: 'overview' };
  if (path === '/volumes') {
    return {
      screen: 'volumes',
      phase: parameters.get('phase') ?? '',
      node: parameters.get('node') ?? '',
    };
  }
  const name = /^\/volumes\/([^/]+)$/.exec(path)?.[1];
  return name === undefined ? { screen: 'unknown' } : { screen: 'volume', name: decoded(name) };
}

function decodedPair(pair: string): [name: string, value: string] {
  const [name = '', value = ''] = pair.split('=');
  return [name, decoded(value)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

export const volumeLink = (name: string): string => `#/volumes/${encodeURIComponent(name)}`;

/** Returns the link to the Volumes with these filters; '' is none. */
export function volumesLink(filters: { phase?: string; node?: string } = {}): string {
  const query = Object.entries(filters)
    .filter(([, value]) => value !== '' && value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return query.length === 0 ? '#/volumes' : `#/volumes?${query.join('&')}`;
}

/** Returns the token in the fragment of a URL that `stowage ui` printed. */
export const tokenIn = (hash: string): string | undefined =>
  new RegExp(`^#${TOKEN_PARAMETER}=([\\w-]+)$`).exec(hash)?.[1];
