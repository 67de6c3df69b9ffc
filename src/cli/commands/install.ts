import { type Command, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_GATES } from '../../api/feature-gates.ts';
import type { InstallFlags } from '../install/install.ts';
import type { Values } from '../install/values.ts';
import { components } from '../lib/components.ts';
import { featureGates } from '../lib/feature-gates.ts';
import { clientFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { addNodeOptions, refuseNodeFlags, settleNodeFlags } from '../lib/nodes/flags.ts';
import { labels, oneObjectName, oneText, onOrOff, wholeNumber } from '../lib/parse.ts';

interface Flags extends Omit<InstallFlags, 'values'>, GlobalFlags {
  takeOverMetalk8s?: boolean;
  /** Path of the file. */
  values?: string;
}

/**
 * Flags for node access, by their parsed names: of the daemon, or of this command with
 * --take-over-metalk8s. With the latter, the daemon's settings for them come from --values.
 */
const SHARED = ['transport', 'sshGuard', 'saltUrl', 'saltEauth', 'saltUser'];

export default function install(program: Command, io: Io): void {
  const command = program
    .command('install')
    .description(
      'install or upgrade what a cluster needs: definitions of kinds, rights, and the daemon as a Deployment, in the namespace stowage unless -n says another. What is asked of the daemon is kept by later runs.',
    )
    .option(
      '--components <name,...>',
      'parts to install: crds, rbac, deployment (default: these), and standard kinds where they are absent: snapshot-crds, referencegrant-crd, populator-crds',
      components,
    )
    .option(
      '--image <image>',
      'image of the daemon (default: stowage:<version>, as built and loaded by you)',
      image,
    )
    .addOption(
      new Option('--dry-run <mode>', 'change nothing: print the manifests, or let the server check')
        .choices(['none', 'client', 'server'])
        .default('none'),
    )
    .option(
      '--take-over-metalk8s',
      "stop MetalK8s's storage operator and adopt its Volumes, each only where its device is recognised on its node; no byte of a device is written",
    );
  addDaemonOptions(command);
  addNodeOptions(command, (name) =>
    SHARED.includes(name)
      ? ' by the daemon; with --take-over-metalk8s, by this command'
      : ' (with --take-over-metalk8s)',
  ).action(async (_flags, command: Command) => {
    const { values: file, ...flags } = command.optsWithGlobals<Flags>();
    const { valuesFromFlags } = await import('../install/values-from-flags.ts');
    const asked = {
      ...flags,
      values: await valuesFromFlags(command, file, flags.takeOverMetalk8s ? SHARED : []),
    };
    if (flags.takeOverMetalk8s) {
      const nodeFlags = await settleNodeFlags(command, io.env);
      const { takeOverMetalk8s } = await import('../install/metalk8s/take-over-metalk8s.ts');
      await takeOverMetalk8s({ ...asked, ...nodeFlags }, io, clientFor(command, io));
      return;
    }
    refuseNodeFlags(command, '--take-over-metalk8s', SHARED);
    const { install: run } = await import('../install/install.ts');
    await run(asked, io, clientFor(command, io));
  });
}

/** Adds the flags for settings of the daemon, except those for node access. */
function addDaemonOptions(command: Command): void {
  command
    .option(
      '--values <file>',
      'YAML of what is asked of the daemon, by the names of these flags',
      oneText,
    )
    .option('--reset-values', 'forget what earlier runs asked of the daemon')
    .option(
      '--feature-gates <gate=bool,...>',
      'CrossNamespaceVolumeDataSource (default: false): whether claims may start from what is in other namespaces',
      featureGates(DEFAULT_GATES),
    )
    .addOption(
      new Option(
        '--cross-namespace-snapshot [true|false]',
        'whether claims may start from VolumeSnapshotLinks',
      ).argParser(onOrOff),
    )
    .option('--controllers <list>', 'controllers that the daemon runs, as for watch', oneText)
    .option('--replicas <number>', 'pods of the daemon, of which one leads', wholeNumber(0, 10))
    .option(
      '--ssh-secret <name>',
      'Secret with what ssh needs (default: stowage-ssh)',
      oneObjectName,
    )
    .option('--salt-secret <name>', 'Secret whose key secret salt-api takes', oneObjectName)
    .option(
      '--salt-audience <text>',
      'log in to salt-api by a token of the ServiceAccount with that audience',
      oneText,
    )
    .option(
      '--salt-ca-configmap <name>',
      "ConfigMap whose ca.crt may have signed salt-api's certificate",
      oneObjectName,
    )
    .option('--requests <cpu=…,memory=…>', 'what the pod asks of its node', resources)
    .option('--limits <cpu=…,memory=…>', 'what the pod gets at most', resources)
    .addOption(
      new Option('--log-level <level>', 'how much the daemon logs').choices(['info', 'debug']),
    )
    .option('--node-selector <key=value,...>', 'labels of nodes that its pods run on', labels);
}

function image(text: string, before?: string): string {
  if (text === '') throw new InvalidArgumentError('An image has a name.');
  return oneText(text, before);
}

function resources(text: string, before: Values['requests'] = {}): NonNullable<Values['requests']> {
  const given = labels(text, { ...before });
  if (Object.keys(given).some((key) => key !== 'cpu' && key !== 'memory')) {
    throw new InvalidArgumentError('Write cpu=… and memory=…, with a comma between.');
  }
  return given;
}
