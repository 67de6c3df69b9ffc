import { NodeError } from './errors.ts';

/**
 * For scripts on a node: `$as` is what programs are called through, nothing for root, and `not_run` tells whether sudo
 * failed instead of the program. Both end with status 1 then, and 1 means something to whoever looks at a program, so
 * what sudo said is looked at, and whether it would let the program run. It warns of a host name and goes on.
 */
export const SUDO_PRELUDE = `as=
[ "$(id -u)" = 0 ] || as='sudo -n --'
not_run() { # EXIT ARGV... <ERRORS: prints nothing, or "missing", or "denied USER"
  [ -n "$as" ] || return 0
  status=$1
  shift
  why=
  case $status in
    127) command -v sudo >/dev/null || why=denied ;;
    1)
      said=$(grep '^sudo: ' | grep -v -e 'unable to resolve host' -e 'setrlimit(')
      [ -z "$said" ] && sudo -n -l -- "$@" >/dev/null 2>&1 || why=denied
      # Of a program that is not there sudo says what it says of one that is not allowed.
      [ -z "$why" ] || command -v "$1" >/dev/null || why=missing ;;
  esac
  [ "$why" != denied ] || why="denied $(printf %s "$(id -un)" | base64 -w0)"
  printf %s "$why"
}
`;

/** sudo did not let the user run a program on a node. */
export class SudoRefusal extends Error {
  override readonly name = 'SudoRefusal';

  readonly user: string;
  /** With its arguments: those matter to sudo. */
  readonly command: string;
  readonly said: string;

  constructor(user: string, command: string, said: string) {
    super(`sudo does not let ${user} run ${command}`);
    this.user = user;
    this.command = command;
    this.said = said;
  }

  on(node: string): NodeError {
    const lines = this.said.split('\n').filter((line) => /sudo|sorry/i.test(line));
    const said = lines.length === 0 ? '' : `: ${lines.join('; ')}`;
    return new NodeError(
      'refused',
      node,
      `node ${node}: sudo does not let user ${this.user} run '${this.command}' as root without a password${said}`,
      {
        cause: this,
        hint: `Allow it in /etc/sudoers.d on the node, with NOPASSWD: 'stowage print sudoers' writes what a node needs. 'sudo -n -l' there, as ${this.user}, lists what is allowed.`,
      },
    );
  }
}
