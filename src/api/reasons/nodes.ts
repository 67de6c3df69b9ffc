import type { ReasonEntry } from './types.ts';

/**
 * Advice on updating a node's part of Stowage: with Salt by its minion, with ssh's forced command
 * by a page of the documentation.
 */
const UPDATE =
  'Copy salt/ of this version of Stowage to the salt-master, then run there: salt {minion} saltutil.sync_modules';
const UPDATE_GUARD = 'Copy salt/ of this version of Stowage to the node, as {page} describes.';
const SYNC =
  'Add salt/ of this version of Stowage to file_roots of the salt-master, then run there: salt {minion} saltutil.sync_modules';

/** Connections to nodes: ssh, sudo and Salt. */
export const NODES = {
  NotLeading: {
    message: 'no request is sent to node {node}: this process is not the leader',
  },
  NodeNotLocal: {
    message: 'node {node} is not this machine',
    action:
      'If it is, add it to --local-node; otherwise use --transport ssh. Current local nodes: {named}.',
  },
  NodeNameInvalid: {
    message: '{name} is not a valid node name',
  },
  AddressInvalid: {
    message:
      'the annotation {annotation} of its Node is {found}, but must be a host name or an IP address: ssh connects to the name of the node instead',
    action: 'Correct the annotation, or remove it.',
    cause: 'AddressInvalid',
  },
  PortInvalid: {
    message:
      'the annotation {annotation} of its Node is {found}, but must be a decimal number from 1 to 65535: ssh connects to the port of its configuration instead',
    action: 'Correct the annotation, or remove it.',
    cause: 'AddressInvalid',
  },
  MinionIdInvalid: {
    message:
      'the annotation {annotation} of its Node is {found}, but must be the ID of a Salt minion: Salt uses the name of the node instead',
    action: 'Correct the annotation, or remove it.',
    cause: 'AddressInvalid',
  },
  SocketFolderUnusable: {
    message: 'no directory for the control sockets of ssh: {said}',
  },
  HostKeyChanged: {
    message:
      'node {node}: its host key differs from the known one[: it sent the {type} key {fingerprint}]',
    action:
      'If the node was reinstalled, remove the old key[ ({file}:{line})]: ssh-keygen -R {node}; then compare the new key with the one on the node itself, and add it.',
    cause: 'HostKeyChanged',
  },
  HostKeyUnknown: {
    message: 'node {node}: its host key is unknown[ (of type {type})]',
    action:
      "Print the fingerprint on the node itself, then add the key to known_hosts under the name {node}: stowage check node {node} --trust-host-key SHA256:…; or run 'ssh -o HostKeyAlias={node} {node}', which asks for confirmation. A host certificate counts if it is valid for the name {node}, and known_hosts has a line @cert-authority {node} CA-KEY.",
    cause: 'HostKeyUnknown',
  },
  HostKeyRevoked: {
    message: 'node {node}: its host key is revoked[, by the file {file}]',
    action:
      'Another machine may have that key. Find out why it was revoked; then create another host key on the node, and add it to known_hosts under the name {node}.',
  },
  HostCertificateRefused: {
    message: 'node {node}: its host certificate is not accepted for the name {node}: {said}',
    action:
      'Sign the host key of the node for the name {node} (ssh-keygen -s CA -h -I {node} -n {node} KEY), and add its CA to known_hosts: @cert-authority {node} CA-KEY. Or trust the key itself: stowage check node {node} --trust-host-key SHA256:…',
    cause: 'HostKeyUnknown',
  },
  LoginRefused: {
    message: 'node {node} refuses the login: {said}',
    action: 'Check the node: stowage check node {node}',
    cause: 'LoginRefused',
  },
  NodeUnreachable: {
    message: 'node {node} is unreachable over ssh: {said}',
    action: 'Check the node: stowage check node {node}',
    varies: ['said'],
  },
  NodeSilent: {
    message: 'node {node} did not answer within {seconds} s',
  },
  ShellFailed: {
    message: 'node {node}: sh failed with status {exit}: {said}',
    varies: ['said'],
  },
  LocalShellFailed: {
    message: 'node {node}: sh failed: {said}',
    varies: ['said'],
  },
  AnswerTooLong: {
    message: 'node {node} answered with more than {limit} MiB',
    action:
      'Answers are far shorter: check the login scripts of the node, which may print in non-interactive sessions, and who administers it.',
  },
  AnswerUnclear: {
    message: 'cannot parse the answer of node {node}: {found}',
    action:
      'Remove what prints in non-interactive logins on the node (a profile, a banner), and check that nothing cuts the connection.',
    varies: ['found'],
  },
  ModuleAnswerUnclear: {
    message: 'cannot parse the answer of node {node}: {found}',
    action: `[Update Stowage's Salt module there, which may have another version: salt {minion} saltutil.sync_modules][${UPDATE_GUARD}]`,
    varies: ['found'],
  },
  SudoRefused: {
    message:
      "node {node}: sudo does not let user {user} run '{command}' as root without a password[: {said}]",
    action:
      "Allow it with NOPASSWD in /etc/sudoers.d on the node: 'stowage print sudoers' prints the rules. As {user}, 'sudo -n -l' there lists what is allowed.",
    cause: 'SudoRefused',
  },
  SudoUnsupported: {
    message:
      "node {node}: {sudo} does not let user {user} run '{command}' as root without a password, since it cannot read the regular expressions of Stowage's rules[: {said}]",
    action:
      'Make sudo 1.9.10 or later the program sudo of the node (on Ubuntu: update-alternatives --config sudo). With any sudo, the forced command of --ssh-guard needs one rule without regular expressions; root needs none.',
    cause: 'SudoRefused',
  },
  JobsFolderForeign: {
    message: 'node {node}: {folder} is not a directory of user {user}: {found}',
    action:
      'Log in as the user that ran the earlier jobs; or, once none of its jobs runs, remove {folder} on the node.',
  },
  SaltUnreachable: {
    message: 'node {node} is unreachable: salt-api at {url}: {said}',
    action:
      'Check that salt-api and salt-master run, and that a CA in --salt-ca-file signed the certificate.',
    cause: 'SaltUnreachable',
    varies: ['said'],
  },
  SaltLoginRefused: {
    message: 'node {node}: login of {user} to salt-api at {url} with eauth {eauth} failed: {said}',
    action:
      'Check the secret in {file}, and that external_auth of the salt-master has {eauth} with {user}.',
    cause: 'SaltLoginRefused',
  },
  SaltRightMissing: {
    message: 'node {node}: Salt does not allow {user} to run {function}: {said}',
    action:
      'On the salt-master, add @stowage to external_auth.{eauth}.{user}, and runner to netapi_enable_clients, as in salt/master.d/stowage.conf.',
    cause: 'SaltLoginRefused',
  },
  SaltRunnerFailed: {
    message: "node {node}: Stowage's runner behind salt-api at {url} failed: {said}",
    action:
      'Add the directory _runners in salt/ of this version of Stowage to runner_dirs of the salt-master.',
    varies: ['said'],
  },
  MinionUnknown: {
    message: 'node {node}: the salt-master does not know minion {minion}',
    action:
      'Check that its key is accepted: salt-key -l all. If the minion of {node} has another ID, set it in the configuration: nodes: {setting}.',
    cause: 'MinionUnknown',
  },
  MinionDown: {
    message: 'node {node}: minion {minion} does not answer the salt-master',
    action: 'Check that the node is up and that salt-minion runs there: salt {minion} test.ping',
    cause: 'MinionDown',
  },
  SaltAnswerCut: {
    message: 'node {node}: Salt truncated its answer',
    action: 'Increase max_event_size of the salt-master.',
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
    message: "node {node}: Stowage's Salt module on minion {minion} has another version: {said}",
    action: SYNC,
    cause: 'SaltModuleOld',
  },
  SaltModuleFailed: {
    message: "node {node}: Stowage's Salt module on minion {minion} failed ({code}): {said}",
    action: 'Read the full error in the log of salt-minion on {node}.',
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
    action: `Allow it in /etc/stowage/allowed there, with a line \`directory PATH\`, \`device PATH\` or \`group NAME\` (of LVM); for logical volumes without a tag, see docs/salt.md. If the program itself is new, salt/ there is older than this version of Stowage.[ ${UPDATE}][ ${UPDATE_GUARD}]`,
  },
  AllowedListInvalid: {
    message: 'node {node} refuses: {found}',
    action: 'Write that file as root, as docs/salt.md describes.',
  },
  NodeNotListed: {
    message: 'node {node} refuses: {found}',
    action:
      'Correct the address or minion ID of the node; or name the node in /etc/stowage/allowed there, with a line `node NAME`.',
  },
  ModuleJobsForeign: {
    message: 'node {node} refuses: {found}',
    action:
      'Log in as the user that ran the earlier jobs; or, once none of its jobs runs, remove that directory on the node.',
  },
} as const satisfies Record<string, ReasonEntry>;
