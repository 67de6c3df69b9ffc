import { execa } from 'execa';
import { workingDirectory } from '../working-directory.ts';
import { socketName } from './control-directory.ts';

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
 * Options that older clients refuse: RemoteCommand is known since OpenSSH 7.6, the others since
 * 8.7. `IgnoreUnknown` is no way out, since it would replace that of ~/.ssh/config.
 */
const NEWER_OPTIONS = [
  'RemoteCommand=none',
  'SessionType=default',
  'StdinNull=no',
  'ForkAfterAuthentication=no',
];

/** Maximum time (ms) in which ssh prints its configuration. */
const PRINTS_WITHIN = 5000;

/** Pattern of a host name or address in ssh's configuration. */
const HOST = /^hostname ([A-Za-z0-9][A-Za-z0-9.:_-]*)$/m;

const withFlags = (options: readonly string[]): string[] =>
  options.flatMap((option) => ['-o', option]);

/** Runs `ssh -G`, which connects to nothing. Returns undefined if ssh refuses the arguments. */
async function printConfiguration(args: readonly string[]): Promise<string | undefined> {
  const { failed, stdout } = await execa('ssh', ['-G', ...args], {
    cwd: workingDirectory(),
    stdin: 'ignore',
    reject: false,
    timeout: PRINTS_WITHIN,
  });
  return failed ? undefined : stdout;
}

/** Returns those of the newer options that the installed ssh knows. */
export async function newerOptions(): Promise<string[]> {
  const knows = async (options: readonly string[]) =>
    (await printConfiguration(['-F', '/dev/null', ...withFlags(options), '--', 'localhost'])) !==
    undefined;
  if (await knows(NEWER_OPTIONS)) return NEWER_OPTIONS;
  const known = await Promise.all(NEWER_OPTIONS.map((option) => knows([option])));
  return NEWER_OPTIONS.filter((_, index) => known[index]);
}

/**
 * Returns the name or address to which ssh connects for a destination, as the administrator's
 * configuration says. `args`: the file and the port.
 */
export async function configuredHost(
  args: readonly string[],
  destination: string,
): Promise<string | undefined> {
  return HOST.exec((await printConfiguration([...args, '--', destination])) ?? '')?.[1];
}

/**
 * Returns the arguments of ssh before the destination.
 * @param alias name under which the host key must be known
 * @param newer the newer options that ssh knows
 * @param directory directory of sockets; undefined if connections are not shared
 */
export function sshArguments(
  node: string,
  alias: string,
  newer: readonly string[],
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
      ...newer,
      // The key belongs to the node, whatever address it has today.
      `HostKeyAlias=${alias}`,
      ...shared,
    ]),
  ];
}

/** Options with which ssh accepts only host certificates: patterns are known since OpenSSH 7.4. */
export const CERTIFICATES_ONLY = withFlags(['HostKeyAlgorithms=*-cert-v01@openssh.com']);
