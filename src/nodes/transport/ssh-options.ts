import { execa } from 'execa';
import { workingDirectory } from '../working-directory.ts';
import { socketName } from './control-directory.ts';
import { SSH_FAILED, UNSUPPORTED } from './ssh-failure.ts';

/**
 * Options of every call. Options on the command line take precedence over ~/.ssh/config, which is
 * made for people: a command in it, or a terminal, would replace the script of Stowage.
 */
const FIXED_OPTIONS = [
  'BatchMode=yes',
  'StrictHostKeyChecking=yes',
  'ConnectTimeout=10',
  // A dead node is detected after 15 s.
  'ServerAliveInterval=5',
  'ServerAliveCountMax=3',
  'ClearAllForwardings=yes',
  // ClearAllForwardings covers only ports. Root of a node could use the agent of the user.
  'ForwardAgent=no',
  'ForwardX11=no',
  'Tunnel=no',
  'PermitLocalCommand=no',
  'EscapeChar=none',
  // Also hides the picture of VisualHostKey.
  'LogLevel=ERROR',
];

/**
 * Options that some clients refuse: RemoteCommand is known since OpenSSH 7.6, the next three since
 * 8.7, and the last one only with GSSAPI. `IgnoreUnknown` is no way out, since it would replace
 * that of ~/.ssh/config.
 */
const OPTIONAL_OPTIONS = [
  'RemoteCommand=none',
  'SessionType=default',
  'StdinNull=no',
  'ForkAfterAuthentication=no',
  // Root of a node could use the tickets of the user.
  'GSSAPIDelegateCredentials=no',
];

/** Maximum time (ms) in which ssh prints its configuration. */
const PRINTS_WITHIN = 5000;

const withFlags = (options: readonly string[]): string[] =>
  options.flatMap((option) => ['-o', option]);

/**
 * Reports whether the installed ssh knows all of these options, by `ssh -G`, which connects to
 * nothing; undefined without an answer.
 */
async function knows(options: readonly string[]): Promise<boolean | undefined> {
  const args = ['-G', '-F', '/dev/null', ...withFlags(options), '--', 'localhost'];
  const { exitCode, stderr } = await execa('ssh', args, {
    cwd: workingDirectory(),
    stdin: 'ignore',
    reject: false,
    timeout: PRINTS_WITHIN,
  });
  if (exitCode === SSH_FAILED) return false;
  // ssh continues without an option that it was built without.
  return exitCode === 0 ? !UNSUPPORTED.test(stderr) : undefined;
}

/**
 * Returns those of the optional options that the installed ssh knows; undefined if it does not
 * answer that, as on a machine without a free process.
 */
export async function optionalOptions(): Promise<string[] | undefined> {
  if (await knows(OPTIONAL_OPTIONS)) return OPTIONAL_OPTIONS;
  if (!(await knows([]))) return undefined;
  const known = await Promise.all(OPTIONAL_OPTIONS.map((option) => knows([option])));
  if (known.includes(undefined)) return undefined;
  return OPTIONAL_OPTIONS.filter((_, index) => known[index]);
}

/**
 * Returns the arguments of ssh before the destination.
 * @param known the optional options that ssh knows
 * @param directory directory of sockets; undefined if connections are not shared
 */
export function sshArguments(
  node: string,
  known: readonly string[],
  directory: string | undefined,
): string[] {
  const shared =
    directory === undefined
      ? ['ControlMaster=no', 'ControlPath=none']
      : ['ControlMaster=auto', 'ControlPersist=60', `ControlPath=${directory}/${socketName(node)}`];
  return [
    '-T',
    ...withFlags([
      ...FIXED_OPTIONS,
      ...known,
      // The key belongs to the node, whatever address it has today.
      `HostKeyAlias=${node}`,
      ...shared,
    ]),
  ];
}
