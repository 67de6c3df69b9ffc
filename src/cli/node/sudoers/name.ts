import { createHash } from 'node:crypto';

const NAME = /stowage-allows-[0-9a-f]{12}/g;

/**
 * Returns deploy/sudoers with the name of its lines, a digest of them. A node permits a
 * command of that name, which identifies the node's lines.
 */
export function withName(sample: string): string {
  const commands = sample.replace(/^#.*\n/gm, '').replaceAll(NAME, '');
  const digest = createHash('sha256').update(commands).digest('hex').slice(0, 12);
  return sample.replaceAll(NAME, `stowage-allows-${digest}`);
}

/**
 * Returns the command that a node permits only if it has these lines.
 * @throws Error for lines without a name
 */
export function nameProbe(sample: string): string[] {
  const [name] = sample.match(NAME) ?? [];
  if (name === undefined) throw new Error('deploy/sudoers has no name for its lines');
  return ['true', name];
}
