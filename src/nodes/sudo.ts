import { type Reason, refuse } from '../api/reasons.ts';
import { type NodeError, nodeError } from './errors.ts';

/** Maximum lines of sudo's output, and characters of each: it cites each bad line of a file. */
const MOST_LINES = 3;
const LONGEST_LINE = 300;

/** Error for a program that sudo did not let the user run on a node. */
export class SudoRefusal extends Error {
  override readonly name = 'SudoRefusal';

  readonly user: string;
  /** Command with its arguments, which matter to sudo. */
  readonly command: string;
  readonly output: string;
  /** First line of `sudo --version` with underscores for spaces; empty if unknown. */
  readonly version: string;

  constructor(user: string, command: string, output: string, version = '') {
    super(`sudo does not let ${user} run ${command}`);
    this.user = user;
    this.command = command;
    this.output = output;
    this.version = version;
  }

  on(node: string): NodeError {
    // Beginnings of lines of sudo 1.9 and sudo-rs 0.2, and sudo's message about a user without
    // rights.
    const lines = this.output.split('\n').filter((line) => /sudo|sorry/i.test(line));
    const { user, command } = this;
    const last = lines.slice(-MOST_LINES).map((line) => line.slice(0, LONGEST_LINE));
    const said = last.length === 0 ? undefined : last.join('; ');
    const sudo = unsupportedSudo(this.version);
    return nodeError(
      'refused',
      node,
      sudo === undefined
        ? refuse('SudoRefused', { node, user, command, said })
        : refuse('SudoUnsupported', { node, sudo, user, command, said }),
      this,
    );
  }
}

/**
 * Returns the name and the version of a sudo that cannot read the regular expressions of
 * deploy/sudoers; undefined for one that can, or that is unknown. sudo reads them since 1.9.10, and
 * sudo-rs 0.2.15 does not. Seen: "Sudo version 1.9.5p2", "sudo-rs 0.2.5", "sudo-rs 0.2.15". Pure.
 * @param version first line of `sudo --version` with underscores for spaces
 */
export function unsupportedSudo(version: string): string | undefined {
  // A node may answer anything.
  const [rust] = /^sudo-rs_[\w.+~-]{1,50}/.exec(version) ?? [];
  if (rust !== undefined) return rust.replaceAll('_', ' ');
  const [, found = '', ...numbers] =
    /^Sudo_version_((\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?\w{0,20})/.exec(version) ?? [];
  const [major = 0, minor = 0, patch = 0] = numbers.map((each) => Number(each ?? 0));
  if (found === '') return undefined;
  const isOld = major < 1 || (major === 1 && (minor < 9 || (minor === 9 && patch < 10)));
  return isOld ? `sudo ${found}` : undefined;
}

/**
 * Returns the refusal of a step by sudo, as its job wrote it on the node, with the reason of a sudo
 * that is unsupported. Other refusals stay as they are. Pure.
 */
export function withSudoVersion<T extends { refusal: string; reason?: Reason | undefined }>(
  refused: T,
): T {
  const { reason, refusal } = refused;
  if (reason?.code !== 'SudoRefused') return refused;
  const { sudo: version = '', ...parameters } = reason.parameters;
  const sudo = unsupportedSudo(version);
  return sudo === undefined
    ? { ...refused, reason: { ...reason, parameters } }
    : {
        ...refused,
        refusal: `${refusal}; ${sudo} cannot read the regular expressions of Stowage's rules`,
        reason: { code: 'SudoUnsupported', parameters: { ...parameters, sudo } },
      };
}
