import type { Command } from 'commander';
import { VERSION } from '../api/version.ts';
import adoptVolume from './commands/adopt-volume.ts';
import checkCluster from './commands/check-cluster.ts';
import checkGrant from './commands/check-grant.ts';
import checkNode from './commands/check-node.ts';
import completion from './commands/completion.ts';
import createBackup from './commands/create-backup.ts';
import createFromFiles from './commands/create-file.ts';
import createSnapshot from './commands/create-snapshot.ts';
import createSnapshotClass from './commands/create-snapshot-class.ts';
import createStorageClass from './commands/create-storage-class.ts';
import createVolume from './commands/create-volume.ts';
import deleteFromFiles from './commands/delete-file.ts';
import deleteSnapshotClass from './commands/delete-snapshot-class.ts';
import deleteStorageClass from './commands/delete-storage-class.ts';
import deleteVolume from './commands/delete-volume.ts';
import describeClaim from './commands/describe-claim.ts';
import describeNode from './commands/describe-node.ts';
import describePod from './commands/describe-pod.ts';
import describeSnapshot from './commands/describe-snapshot.ts';
import describeSnapshotClass from './commands/describe-snapshot-class.ts';
import describeStorageClass from './commands/describe-storage-class.ts';
import describeVolume from './commands/describe-volume.ts';
import detachVolume from './commands/detach-volume.ts';
import diff from './commands/diff.ts';
import getAttachments from './commands/get-attachments.ts';
import getGrants from './commands/get-grants.ts';
import getNodes from './commands/get-nodes.ts';
import getPopulators from './commands/get-populators.ts';
import getSeveral from './commands/get-several.ts';
import getSnapshotClasses from './commands/get-snapshot-classes.ts';
import getSnapshots from './commands/get-snapshots.ts';
import getStorageClasses from './commands/get-storage-classes.ts';
import getVolumes from './commands/get-volumes.ts';
import grantSnapshot from './commands/grant-snapshot.ts';
import help, { HELP } from './commands/help.ts';
import install from './commands/install.ts';
import addPauseCommands from './commands/pause.ts';
import printSudoers from './commands/print-sudoers.ts';
import registerPopulator from './commands/register-populator.ts';
import resizeVolume from './commands/resize-volume.ts';
import restoreSnapshot from './commands/restore-snapshot.ts';
import retryVolume from './commands/retry-volume.ts';
import revokeGrant from './commands/revoke-grant.ts';
import sandbox from './commands/sandbox.ts';
import supportBundle from './commands/support-bundle.ts';
import topNodes from './commands/top-nodes.ts';
import topVolumes from './commands/top-volumes.ts';
import ui from './commands/ui.ts';
import uninstall from './commands/uninstall.ts';
import unregisterPopulator from './commands/unregister-populator.ts';
import version from './commands/version.ts';
import watch from './commands/watch.ts';
import why from './commands/why.ts';
import { addGroupExamples } from './lib/examples.ts';
import type { Io } from './lib/io.ts';
import { printable } from './lib/output/printable.ts';
import { namespaceName, requestTimeout } from './lib/parse.ts';
import { TreeCommand } from './lib/tree-command.ts';
import type { Run } from './ui/run-command.ts';

const DESCRIPTION =
  'provision files, disks and logical volumes on your nodes as Kubernetes volumes';

/** Commands whose first examples are in the help of the program. */
const EXAMPLES = ['create volume', 'why'];

/** Run of a program that only describes its commands. */
const RUNS_NOTHING: Run = () => Promise.reject(new Error('this program runs no other commands'));

/**
 * Returns the tree of commands. A command imports its implementation when it runs. With `quiet`,
 * usage errors are thrown, but not printed. `run` runs a command line for another command.
 */
export function createProgram(io: Io, { quiet = false, run = RUNS_NOTHING } = {}): Command {
  const program = new TreeCommand('stowage')
    .description(DESCRIPTION)
    .version(VERSION, '--version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .option('--kubeconfig <file>', 'kubeconfig file (default: $KUBECONFIG, then ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig (default: its current context)')
    .option('-n, --namespace <name>', 'namespace (default: that of the context)', namespaceName)
    .option('--as <user>', 'user to impersonate')
    .option(
      '--request-timeout <duration>',
      'timeout of each request to the API server, such as 30s; 0 is none (default: 1m)',
      requestTimeout,
    )
    .option('--no-color', 'disable colors, as $NO_COLOR does')
    .option('-v, --verbose', 'print more detail, with stack traces of errors')
    // The groups inherit the row of their help for it.
    .helpCommand('help [command]', HELP)
    .exitOverride()
    // Kinds with many aliases leave less than the default of 40 columns for descriptions.
    .configureHelp({ minWidthToWrap: 20 })
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => void (quiet || io.stderr.write(printable(text))),
    });
  const create = program.command('create').description('create objects');
  createVolume(create, io);
  createStorageClass(create, io);
  createSnapshot(create, io);
  createSnapshotClass(create, io);
  createBackup(create, io);
  createFromFiles(create, io);
  const get = program.command('get').description('list objects');
  const kinds = [
    getVolumes(get, io),
    getNodes(get, io),
    getAttachments(get, io),
    getSnapshots(get, io),
    getStorageClasses(get, io),
    getSnapshotClasses(get, io),
    getGrants(get, io),
    getPopulators(get, io),
  ];
  getSeveral(get, io, kinds);
  const describe = program.command('describe').description('show details of objects');
  describeVolume(describe, io);
  describeClaim(describe, io);
  describeSnapshot(describe, io);
  describeNode(describe, io);
  describePod(describe, io);
  describeStorageClass(describe, io);
  describeSnapshotClass(describe, io);
  const top = program.command('top').description('show how much space is really used');
  topVolumes(top, io);
  topNodes(top, io);
  const remove = program.command('delete').description('delete objects');
  deleteVolume(remove, io);
  deleteStorageClass(remove, io);
  deleteSnapshotClass(remove, io);
  deleteFromFiles(remove, io);
  const resize = program.command('resize').description('expand objects');
  resizeVolume(resize, io);
  const retry = program.command('retry').description('retry failed work now');
  retryVolume(retry, io);
  const pause = program.command('pause').description('stop all work on objects for a while');
  addPauseCommands(pause, io);
  const resume = program.command('resume').description('continue the work on paused objects');
  addPauseCommands(resume, io);
  const detach = program.command('detach').description('detach volumes from nodes');
  detachVolume(detach, io);
  const adopt = program.command('adopt').description('adopt existing storage with its data');
  adoptVolume(adopt, io);
  const check = program.command('check').description('check for problems');
  checkCluster(check, io);
  checkNode(check, io);
  checkGrant(check, io);
  const restore = program.command('restore').description('restore data from snapshots');
  restoreSnapshot(restore, io);
  const grant = program.command('grant').description('allow other namespaces to use objects');
  grantSnapshot(grant, io);
  const revoke = program.command('revoke').description('revoke grants');
  revokeGrant(revoke, io);
  const register = program
    .command('register')
    .description('register populators, which fill volumes');
  registerPopulator(register, io);
  const unregister = program.command('unregister').description('unregister populators');
  unregisterPopulator(unregister, io);
  const print = program.command('print').description('print configuration for nodes');
  printSudoers(print, io);
  install(program, io);
  uninstall(program, io);
  diff(program, io);
  why(program, io);
  supportBundle(program, io);
  version(program, io);
  watch(program, io);
  sandbox(program, io);
  ui(program, io, run);
  completion(program, io);
  help(program);
  addGroupExamples(program, EXAMPLES);
  return program;
}
