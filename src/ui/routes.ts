import { isDnsSubdomain } from '../api/dns-name.ts';
import { TOKEN_PARAMETER } from './protocol.ts';

/** Screen that the fragment of the URL names. */
export type Screen =
  | { screen: 'overview' }
  | { screen: 'volumes'; phase: string; node: string }
  | { screen: 'volume'; name: string }
  | { screen: 'nodes' | 'claims' | 'snapshots' | 'populators' | 'attachments' }
  | { screen: 'node'; name: string }
  /** The name is `NAMESPACE/NAME`. */
  | { screen: 'claim' | 'snapshot'; name: string }
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
  return name === undefined ? otherScreenOf(path) : { screen: 'volume', name: decoded(name) };
}

const LISTS = ['nodes', 'claims', 'snapshots', 'populators', 'attachments'] as const;

/** Screens of single objects, by the words of their paths: their kind, then the names. */
const OBJECTS = [
  ['node', 'nodes', 1],
  ['claim', 'claims', 2],
  ['snapshot', 'snapshots', 2],
] as const;

function otherScreenOf(path: string): Screen {
  const [kind = '', ...names] = path.slice(1).split('/');
  const list = LISTS.find((each) => each === kind);
  if (list !== undefined && names.length === 0) return { screen: list };
  const screen = OBJECTS.find((each) => each[1] === kind && each[2] === names.length)?.[0];
  // A valid name needs no decoding.
  return screen !== undefined && names.every(isDnsSubdomain)
    ? { screen, name: names.join('/') }
    : { screen: 'unknown' };
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

export const nodeLink = (name: string): string => `#/nodes/${encodeURIComponent(name)}`;

/** Returns the link to a claim or a snapshot. `name`: `NAMESPACE/NAME` */
const pairLink = (list: string, name: string): string =>
  `#/${list}/${name.split('/').map(encodeURIComponent).join('/')}`;
export const claimLink = (name: string): string => pairLink('claims', name);
export const snapshotLink = (name: string): string => pairLink('snapshots', name);

/** Returns the link to an object; undefined for a kind without a screen. */
export function linkOf(kind: string, name: string): string | undefined {
  if (kind === 'Volume') return volumeLink(name);
  if (kind === 'Node') return nodeLink(name);
  if (kind === 'PersistentVolumeClaim') return claimLink(name);
  return kind === 'VolumeSnapshot' ? snapshotLink(name) : undefined;
}

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
