import { createHash } from 'node:crypto';

export interface HostKey {
  /** Type as in known_hosts: `ssh-ed25519`. */
  type: string;
  /** base64 */
  key: string;
  /** Fingerprint as printed by ssh-keygen -l: `SHA256:…`. */
  fingerprint: string;
}

/** Parses lines of `HOST TYPE KEY`, as in the output of ssh-keyscan and in known_hosts files. */
export const parseKeys = (text: string): HostKey[] => keysMarked('', text);

/** Parses the revoked keys of known_hosts files. */
export const parseRevoked = (text: string): HostKey[] => keysMarked('@revoked', text);

function keysMarked(wanted: '' | '@revoked', text: string): HostKey[] {
  return text.split('\n').flatMap((line) => {
    const [, mark = '', type, key] =
      /^(?:(@\S+)\s+)?[^#@\s]\S*\s+([a-z0-9@.-]+)\s+([A-Za-z0-9+/]+={0,2})(?:\s|$)/.exec(line) ??
      [];
    if (mark !== wanted || type === undefined || key === undefined) return [];
    const digest = createHash('sha256').update(Buffer.from(key, 'base64')).digest('base64');
    return [{ type, key, fingerprint: `SHA256:${digest.replace(/=+$/, '')}` }];
  });
}

/** Returns a setting from the output of `ssh -G`, by its name in lower case. */
export const settingOf = (text: string, name: string): string | undefined =>
  text
    .split('\n')
    .find((line) => line.startsWith(`${name} `))
    ?.slice(name.length + 1)
    .trim();

/** Decision about the key with a fingerprint. */
export type Trust = { add: HostKey } | { known: HostKey } | { refused: string; hint: string };

/** Compares the shown keys with the wanted fingerprint and with the known hosts. Pure. */
export function decideTrust(
  node: string,
  wanted: string,
  shown: readonly HostKey[],
  known: readonly HostKey[],
  revoked: readonly HostKey[],
  knownHosts: string,
): Trust {
  const found = shown.find(({ fingerprint }) => fingerprint === wanted);
  if (found === undefined) {
    const others = shown.map(({ type, fingerprint }) => `${fingerprint} (${type})`).join(', ');
    return {
      refused: `node ${node} shows no host key with the fingerprint ${wanted}, but ${others}`,
      hint: `Print the right fingerprint on the node itself: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub. If it is the one that you gave, another machine answers.`,
    };
  }
  if (revoked.some(({ key }) => key === found.key)) {
    return {
      refused: `the key ${found.fingerprint} (${found.type}) of node ${node} is revoked in the known hosts, and ssh refuses it`,
      hint: `Find out why it was revoked. To give the node a new key, remove the old one from /etc/ssh there, then run: ssh-keygen -A`,
    };
  }
  if (known.some(({ key, type }) => key === found.key && type === found.type))
    return { known: found };
  const changed = known.find(({ type }) => type === found.type);
  if (changed === undefined) return { add: found };
  return {
    refused: `node ${node} has another host key than before: ${knownHosts} has ${changed.fingerprint} (${changed.type}) for it`,
    hint: `If the node was reinstalled, remove the old key, then run this command again: ssh-keygen -R ${node} -f ${knownHosts}`,
  };
}
