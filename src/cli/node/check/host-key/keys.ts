import { createHash } from 'node:crypto';

/** A public key of a host. */
export interface HostKey {
  /** As known_hosts has it: `ssh-ed25519`. */
  type: string;
  /** base64 */
  key: string;
  /** As ssh-keygen -l prints it: `SHA256:…`. */
  fingerprint: string;
}

/** Keys from lines of `HOST TYPE KEY`, as ssh-keyscan prints and known_hosts files have them. */
export const parseKeys = (text: string): HostKey[] => keysMarked('', text);

/** Keys that known_hosts files have as those that are never to be trusted. */
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

/** Of what `ssh -G` prints: a setting by its name, in small letters. */
export const settingOf = (text: string, name: string): string | undefined =>
  text
    .split('\n')
    .find((line) => line.startsWith(`${name} `))
    ?.slice(name.length + 1)
    .trim();

/** What to do with the key of a fingerprint, and what is said of it. */
export type Trust = { add: HostKey } | { known: HostKey } | { refused: string; hint: string };

/** Compares what a host shows with what is wanted and with what is known of it. Pure. */
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
      hint: `Either the fingerprint is of another key, or this is another machine. On the node itself, 'ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub' prints the right one.`,
    };
  }
  if (revoked.some(({ key }) => key === found.key)) {
    return {
      refused: `the key ${found.fingerprint} (${found.type}) of node ${node} is revoked in the known hosts, and ssh refuses it`,
      hint: `Whoever revoked it may know why. Give the node a new key: 'ssh-keygen -A' makes one where it was removed from /etc/ssh.`,
    };
  }
  if (known.some(({ key, type }) => key === found.key && type === found.type))
    return { known: found };
  const changed = known.find(({ type }) => type === found.type);
  if (changed === undefined) return { add: found };
  return {
    refused: `node ${node} has another host key than before: ${knownHosts} has ${changed.fingerprint} (${changed.type}) for it`,
    hint: `If it was installed anew, let go of the old key, and run this again: ssh-keygen -R ${node} -f ${knownHosts}`,
  };
}
