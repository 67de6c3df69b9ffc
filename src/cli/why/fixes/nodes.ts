import type { NODES } from '../../../api/reasons/nodes.ts';
import { commandLine, onNode } from '../../lib/command-line.ts';
import type { Fix } from '../types.ts';
import type { Fixes } from './types.ts';

const trust = (node: string) =>
  `${commandLine('stowage', 'check', 'node', node, '--trust-host-key')} SHA256:FINGERPRINT`;

const syncModules = ({ minion = '' }: { minion?: string }): Fix => ({
  say: 'Run the command on the salt-master, with salt/ of this version in its file_roots.',
  run: [commandLine('salt', minion, 'saltutil.sync_modules')],
});

export const nodes: Fixes<typeof NODES> = {
  // A shown key must be verified, not trusted: a man in the middle shows one, too.
  HostKeyChanged: ({ fingerprint = '', file }, { node }) => ({
    say: `Only if node ${node} was reinstalled, and its console prints this fingerprint (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub): remove the known key, and add the new one.`,
    run: [
      commandLine('ssh-keygen', '-R', node, ...(file === undefined ? [] : ['-f', file])),
      /^SHA256:[A-Za-z0-9+/=]+$/.test(fingerprint)
        ? commandLine('stowage', 'check', 'node', node, '--trust-host-key', fingerprint)
        : trust(node),
    ],
  }),
  HostKeyUnknown: (_, { node }) => ({
    say: `Print the fingerprint of the key on the console of node ${node} (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub). Then add the key with that fingerprint.`,
    run: [trust(node)],
  }),
  LoginRefused: (_, { node }) => ({
    say: 'Add the key of the user that runs stowage watch to authorized_keys on the node. Then check the node as that user, with the --ssh-config of the daemon, if it has one.',
    run: [commandLine('stowage', 'check', 'node', node)],
  }),
  SudoRefused: ({ user = '' }, { node }) => allowSudo(node, user),
  SaltUnreachable: () => ({
    say: 'Start salt-master and salt-api. If they run, check that a CA in --salt-ca-file signed the certificate.',
    run: ['systemctl start salt-master salt-api'],
  }),
  MinionUnknown: ({ minion = '' }) => ({
    say: `Verify the key of the minion, then accept it on the salt-master. If the minion has another id, set the annotation stowage.dev/salt-minion of its Node.`,
    run: ['salt-key -l all', commandLine('salt-key', '-a', minion)],
  }),
  MinionDown: ({ minion = '' }, { node }) => ({
    say: 'Start salt-minion on the node. The second command prints True once the minion answers the salt-master.',
    run: [
      onNode(node, 'systemctl', 'start', 'salt-minion'),
      commandLine('salt', minion, 'test.ping'),
    ],
  }),
  SaltModuleMissing: syncModules,
  SaltModuleUnloadable: syncModules,
  SaltModuleOld: syncModules,
  ModuleVersionOther: ({ minion, page = '' }) =>
    minion === undefined
      ? { say: `Copy salt/ of this version to the node again, as ${page} describes.` }
      : syncModules({ minion }),
};

function allowSudo(node: string, user: string): Fix {
  const say = `Allow user ${user} the commands of Stowage in sudo, without a password. Name the directories, volume groups and disks of the node (stowage print sudoers --help).`;
  // The name of the user comes from the node.
  if (!/^[a-z_][a-z0-9_-]*$/.test(user)) return { say };
  // sudo ignores files with a dot in their names: the file that it reads is complete at any time.
  const [next, file] = ['/etc/sudoers.d/stowage.new', '/etc/sudoers.d/stowage'];
  const put = `install -m 0440 /dev/stdin ${next} && visudo -cf ${next} && mv ${next} ${file}`;
  return {
    say,
    run: [
      `${commandLine('stowage', 'print', 'sudoers', '--user', user)} | ${commandLine('ssh', `root@${node}`, put)}`,
    ],
  };
}
