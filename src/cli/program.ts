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
import createStorageClass from './commands/create-storage-class.ts';
import createVolume from './commands/create-volume.ts';
import deleteFromFiles from './commands/delete-file.ts';
import deleteVolume from './commands/delete-volume.ts';
import describeVolume from './commands/describe-volume.ts';
import detachVolume from './commands/detach-volume.ts';
import diff from './commands/diff.ts';
import getAttachments from './commands/get-attachments.ts';
import getGrants from './commands/get-grants.ts';
import getNodes from './commands/get-nodes.ts';
import getPopulators from './commands/get-populators.ts';
import getSnapshots from './commands/get-snapshots.ts';
import getVolumes from './commands/get-volumes.ts';
import grantSnapshot from './commands/grant-snapshot.ts';
import help from './commands/help.ts';
import install from './commands/install.ts';
import printSudoers from './commands/print-sudoers.ts';
import registerPopulator from './commands/register-populator.ts';
import restoreSnapshot from './commands/restore-snapshot.ts';
import revokeGrant from './commands/revoke-grant.ts';
import sandbox from './commands/sandbox.ts';
import uninstall from './commands/uninstall.ts';
import unregisterPopulator from './commands/unregister-populator.ts';
import version from './commands/version.ts';
import watch from './commands/watch.ts';
import why from './commands/why.ts';
import type { Io } from './lib/io.ts';
import { printable } from './lib/output/printable.ts';
import { namespaceName, requestTimeout } from './lib/parse.ts';
import { TreeCommand } from './lib/tree-command.ts';

const DESCRIPTION = 'Files and disks on bare-metal nodes as Kubernetes volumes';

/**
 * Returns the tree of commands. A command imports its implementation when it runs. With `quiet`,
 * usage errors are thrown, but not printed.
 */
export function createProgram(io: Io, { quiet = false } = {}): Command {
  const program = new TreeCommand('stowage')
    .description(DESCRIPTION)
    .version(VERSION, '--version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .option('--kubeconfig <file>', 'kubeconfig to use (default: $KUBECONFIG, then ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig')
    .option('-n, --namespace <name>', 'namespace (default: that of the context)', namespaceName)
    .option('--as <user>', 'user to impersonate')
    .option(
      '--request-timeout <duration>',
      'give up a request after this long, such as 30s',
      requestTimeout,
    )
    .option('--no-color', 'no colours ($NO_COLOR does the same)')
    .option('-v, --verbose', 'say more, also where errors come from')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => void (quiet || io.stderr.write(printable(text))),
    });
  const create = program.command('create').description('create objects');
  createVolume(create, io);
  createStorageClass(create, io);
  createSnapshot(create, io);
  createBackup(create, io);
  createFromFiles(create, io);
  const get = program.command('get').description('show objects');
  getVolumes(get, io);
  getNodes(get, io);
  getAttachments(get, io);
  getSnapshots(get, io);
  getGrants(get, io);
  getPopulators(get, io);
  const describe = program.command('describe').description('show all about objects');
  describeVolume(describe, io);
  const remove = program.command('delete').description('delete objects');
  deleteVolume(remove, io);
  deleteFromFiles(remove, io);
  const detach = program.command('detach').description('have devices removed from nodes');
  detachVolume(detach, io);
  const adopt = program.command('adopt').description('take storage with its data into use');
  adoptVolume(adopt, io);
  const check = program.command('check').description('look for what is amiss');
  checkCluster(check, io);
  checkNode(check, io);
  checkGrant(check, io);
  const restore = program.command('restore').description('bring data back');
  restoreSnapshot(restore, io);
  const grant = program.command('grant').description('let others use what is in a namespace');
  grantSnapshot(grant, io);
  const revoke = program.command('revoke').description('take back what was granted');
  revokeGrant(revoke, io);
  const register = program.command('register').description('say how volumes are filled');
  registerPopulator(register, io);
  const unregister = program.command('unregister').description('fill no more volumes so');
  unregisterPopulator(unregister, io);
  const print = program.command('print').description('print what nodes need');
  printSudoers(print, io);
  install(program, io);
  uninstall(program, io);
  diff(program, io);
  why(program, io);
  version(program, io);
  watch(program, io);
  sandbox(program, io);
  completion(program, io);
  help(program);
  return program;
}
