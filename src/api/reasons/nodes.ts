import type { ReasonEntry } from './types.ts';

/**
 * Advice on updating a node's part of Stowage: with Salt by its minion, with ssh's forced command
 * by a page of the documentation.
 */
const UPDATE =
  'Copy salt/ of this Stowage to the salt-master, then: salt {minion} saltutil.sync_modules';
const UPDATE_GUARD = 'Copy salt/ of this Stowage to the node again: {page} tells where.';
const SYNC =
  'On the salt-master: salt {minion} saltutil.sync_modules; and salt/ of this Stowage must be in its file_roots.';

/** Connections to nodes: ssh, sudo and Salt. */
export const NODES = {
  NotLeading: {
    message: 'node {node} is left to the process that leads',
  },
  NodeNotLocal: {
    message: 'node {node} is not this machine',
    action: 'Name it with --local-node if it is, or use --transport ssh. Named now: {named}.',
  },
  NodeNameInvalid: {
    message: '{name} is no name of a node',
  },
  AddressInvalid: {
    message:
      'the annotation {annotation} of its Node is {found}, which is not a host name or an IP address: ssh goes to the name of the node',
    action: 'Correct the annotation, or take it off.',
    cause: 'AddressInvalid',
  },
  PortInvalid: {
    message:
      'the annotation {annotation} of its Node is {found}, which is not a decimal number from 1 to 65535: ssh goes to the port that it goes to without',
    action: 'Correct the annotation, or take it off.',
    cause: 'AddressInvalid',
  },
  MinionIdInvalid: {
    message:
      'the annotation {annotation} of its Node is {found}, which is not the id of a Salt minion: Salt asks the minion that has the name of the node',
    action: 'Correct the annotation, or take it off.',
    cause: 'AddressInvalid',
  },
  SocketFolderUnusable: {
    message: 'no folder for the sockets of ssh: {said}',
  },
  HostKeyChanged: {
    message:
      'node {node}: its host key is another than the known one[: the {type} key sent by the remote host is {fingerprint}]',
    action:
      'If the node was reinstalled, remove the old key[ ({file}:{line})]: ssh-keygen -R {node}; then add the new one, checked by another way.',
    cause: 'HostKeyChanged',
  },
  HostKeyUnknown: {
    message: 'node {node}: its host key is not known[ (of the kind {type})]',
    action:
      "Add the key, checked by another way, to known_hosts under the name {node}: stowage check node {node} --trust-host-key SHA256:… does, if it has that fingerprint, and 'ssh -o HostKeyAlias={node} {node}' asks about it.",
    cause: 'HostKeyUnknown',
  },
  LoginRefused: {
    message: 'node {node}: {said}',
    action: "Check that 'ssh {node} true' works for this user without a password.",
    cause: 'LoginRefused',
  },
  NodeUnreachable: {
    message: 'node {node} is not reached over ssh: {said}',
    action: "Check that the node is up and that 'ssh {node} true' works for this user.",
    varies: ['said'],
  },
  NodeSilent: {
    message: 'node {node} gave no answer within {seconds} s',
  },
  ShellFailed: {
    message: 'node {node}: sh ended with status {exit}: {said}',
    varies: ['said'],
  },
  LocalShellFailed: {
    message: 'node {node}: sh failed: {said}',
    varies: ['said'],
  },
  AnswerTooLong: {
    message: 'node {node} answered with more than {limit} MiB',
    action:
      'Stowage asks for far less: check what prints into non-interactive logins on the node, and who administers it.',
  },
  AnswerUnclear: {
    message: 'node {node} gave an answer that is not understood: {found}',
    action:
      'Something on the node prints into non-interactive logins (a profile, a banner), or cut the connection.',
    varies: ['found'],
  },
  ModuleAnswerUnclear: {
    message: 'node {node} gave an answer that is not understood: {found}',
    action: `[Stowage's Salt module there may be of another version: salt {minion} saltutil.sync_modules][${UPDATE_GUARD}]`,
    varies: ['found'],
  },
  SudoRefused: {
    message:
      "node {node}: sudo does not let user {user} run '{command}' as root without a password[: {said}]",
    action:
      "Allow it in /etc/sudoers.d on the node, with NOPASSWD: 'stowage print sudoers' writes what a node needs. 'sudo -n -l' there, as {user}, lists what is allowed.",
    cause: 'SudoRefused',
  },
  JobsFolderForeign: {
    message: 'node {node}: {folder} is not a folder of user {user}: {found}',
    action:
      'Log in as the user that jobs ran as before; or, once none of its jobs runs, remove {folder} on the node.',
  },
  SaltUnreachable: {
    message: 'node {node} is not reached: salt-api at {url}: {said}',
    action:
      'Check that salt-api and salt-master run, and that the certificate is signed by what --salt-ca-file holds.',
    cause: 'SaltUnreachable',
    varies: ['said'],
  },
  SaltLoginRefused: {
    message: 'node {node}: salt-api at {url} does not log {user} in with eauth {eauth}: {said}',
    action:
      'Check the secret in {file}, and that external_auth of the salt-master has {eauth} with {user}.',
    cause: 'SaltLoginRefused',
  },
  SaltRightMissing: {
    message: 'node {node}: Salt does not let {user} run {function}: {said}',
    action:
      'On the salt-master, external_auth.{eauth}.{user} must have @stowage, and netapi_enable_clients runner: salt/master.d/stowage.conf is a sample.',
    cause: 'SaltLoginRefused',
  },
  SaltRunnerFailed: {
    message: "node {node}: Stowage's runner behind salt-api at {url} failed: {said}",
    action:
      'runner_dirs of the salt-master must name the folder _runners of salt/ of this Stowage.',
    varies: ['said'],
  },
  MinionUnknown: {
    message: 'node {node}: the salt-master knows no minion {minion}',
    action:
      'Check its key: salt-key -l all. If the minion of {node} has another id, say so in the configuration: nodes: {setting}.',
    cause: 'MinionUnknown',
  },
  MinionDown: {
    message: 'node {node}: minion {minion} does not answer the salt-master',
    action: 'Check that the node is up and that salt-minion runs there: salt {minion} test.ping',
    cause: 'MinionDown',
  },
  SaltAnswerCut: {
    message: 'node {node}: Salt cut its answer off',
    action: 'Set max_event_size of the salt-master higher.',
  },
  SaltModuleMissing: {
    message: "node {node}: Stowage's Salt module on minion {minion} is missing",
    action: SYNC,
    cause: 'SaltModuleMissing',
  },
  SaltModuleUnloadable: {
    message: "node {node}: Stowage's Salt module on minion {minion} cannot be loaded: {said}",
    action: SYNC,
    cause: 'SaltModuleMissing',
  },
  SaltModuleOld: {
    message: "node {node}: Stowage's Salt module on minion {minion} is another version: {said}",
    action: SYNC,
    cause: 'SaltModuleOld',
  },
  SaltModuleFailed: {
    message: "node {node}: Stowage's Salt module on minion {minion} failed ({code}): {said}",
    action: 'The log of salt-minion on {node} has all of it.',
    varies: ['said'],
  },
  ModuleVersionOther: {
    message: 'node {node} refuses: {found}',
    action: `[${UPDATE}][${UPDATE_GUARD}]`,
    cause: 'SaltModuleOld',
  },
  ModuleRefused: {
    message: "node {node} refuses[ '{command}']: {found}",
    action: `[${UPDATE}][${UPDATE_GUARD}]`,
  },
  CommandNotListed: {
    message: "node {node} refuses[ '{command}']: {found}",
    action: `What it may do is in /etc/stowage/allowed there: a line \`directory PATH\`, \`device PATH\` or \`group NAME\` (of LVM) allows more; docs/salt.md tells of logical volumes without a tag. If the program itself is new, salt/ there is older than this Stowage.[ ${UPDATE}][ ${UPDATE_GUARD}]`,
  },
  AllowedListInvalid: {
    message: 'node {node} refuses: {found}',
    action: 'Root lists there what Stowage may work on: docs/salt.md shows it.',
  },
  NodeNotListed: {
    message: 'node {node} refuses: {found}',
    action:
      'Another node is reached there, by its address or minion id, or /etc/stowage/allowed there has other names: a line `node NAME`.',
  },
  ModuleJobsForeign: {
    message: 'node {node} refuses: {found}',
    action:
      'Log in as the user that jobs ran as before; or, once none of its jobs runs, remove that folder on the node.',
  },
} as const satisfies Record<string, ReasonEntry>;
