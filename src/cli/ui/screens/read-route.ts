import { isDnsSubdomain } from '../../../api/dns-name.ts';
import type { Answers } from '../../../ui/protocol.ts';

/** Request for data. Names are valid; `namespace` is set for claims and snapshots only. */
export interface ReadRoute {
  what: keyof Answers;
  name: string;
  namespace: string;
}

/** Paths below `/api/`, with the places of names. */
const PATHS: Readonly<Record<keyof Answers, readonly string[]>> = {
  claim: ['claims', ':namespace', ':name'],
  snapshot: ['snapshots', ':namespace', ':name'],
  node: ['nodes', ':name'],
  check: ['nodes', ':name', 'check'],
  devices: ['nodes', ':name', 'devices'],
  usage: ['volumes', ':name', 'usage'],
  grants: ['grants'],
  populators: ['populators'],
};

/** Maximum characters of a namespace, which is a DNS label. */
const MOST_LABEL = 63;

const isNamespace = (text: string): boolean =>
  isDnsSubdomain(text) && text.length <= MOST_LABEL && !text.includes('.');

/** Returns what a path reads; undefined for any other path. Pure. */
export function readRoute(url: string): ReadRoute | undefined {
  const words = url.startsWith('/api/') ? url.slice('/api/'.length).split('/') : [];
  for (const [what, path] of Object.entries(PATHS)) {
    const found: ReadRoute = { what: what as keyof Answers, name: '', namespace: '' };
    const matches = path.every((part, index) => {
      // A name has neither `%` nor `?`, so the path needs no decoding.
      const word = words[index] ?? '';
      if (part === ':name') found.name = word;
      if (part === ':namespace') found.namespace = word;
      if (part === ':name') return isDnsSubdomain(word);
      return part === ':namespace' ? isNamespace(word) : part === word;
    });
    if (matches && words.length === path.length) return found;
  }
  return undefined;
}
