import { type Command, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_GATES } from '../../api/feature-gates.ts';
import type { InstallFlags } from '../install/install.ts';
import type { Values } from '../install/values.ts';
import { components } from '../lib/components.ts';
import { addExamples } from '../lib/examples.ts';
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
      'install or upgrade Stowage in a cluster: CRDs, RBAC, and the daemon as a Deployment, in the namespace of -n (default: stowage). Later runs keep the settings of the daemon.',
    )
    .option(
      '--components <name,...>',
      'components to install: crds, rbac, deployment (default: these three), or standard CRDs where absent: snapshot-crds, referencegrant-crd, populator-crds',
      components,
    )
    .option(
      '--image <image>',
      'image of the daemon (default: stowage:<version>, which you build and load)',
      image,
    )
    .addOption(
      new Option(
        '--dry-run <mode>',
        'change nothing: client prints the manifests, server validates them',
      )
        .choices(['none', 'client', 'server'])
        .default('none'),
    )
    .option(
      '--take-over-metalk8s',
      "stop MetalK8s's storage operator and adopt its Volumes, if each device is recognized on its node; no byte of a device is written",
    );
  addDaemonOptions(command);
  addNodeOptions(command, (name) =>
    SHARED.includes(name)
      ? 'Node access (of the daemon; with --take-over-metalk8s, of this command):'
      : 'Node access (for --take-over-metalk8s only):',
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
  addExamples(command, [
    '# The CRDs alone, for a daemon outside the cluster',
    'stowage install --components crds',
    '# The CRDs, RBAC and the daemon',
    'stowage install --image registry.example.com/stowage:v1',
    '# The standard CRDs of snapshots',
    'stowage install --components snapshot-crds',
    '# Print the manifests',
    'stowage install --dry-run=client',
  ]);
}

/** Adds the flags for settings of the daemon, except those for node access. */
function addDaemonOptions(command: Command): void {
  command
    .option(
      '--values <file>',
      'YAML file with settings of the daemon, such as logLevel for --log-level',
      oneText,
    )
    .option('--reset-values', 'discard the settings of the daemon from earlier runs')
    .option(
      '--feature-gates <gate=bool,...>',
      'CrossNamespaceVolumeDataSource: allow data sources of claims in other namespaces (default: false)',
      featureGates(DEFAULT_GATES),
    )
    .addOption(
      new Option(
        '--cross-namespace-snapshot [true|false]',
        'allow VolumeSnapshotLinks as data sources of claims (default: true)',
      ).argParser(onOrOff),
    )
    .option(
      '--controllers <list>',
      'controllers that the daemon runs, as in stowage watch',
      oneText,
    )
    .option(
      '--replicas <number>',
      'number of daemon pods, of which one leads (default: 1)',
      wholeNumber(0, 10),
    )
    .option(
      '--ssh-secret <name>',
      'Secret with the ssh configuration, keys and known hosts (default: stowage-ssh)',
      oneObjectName,
    )
    .option(
      '--salt-secret <name>',
      'Secret with the password or shared secret for salt-api, in its key secret',
      oneObjectName,
    )
    .option(
      '--salt-audience <text>',
      'log in to salt-api with a ServiceAccount token of this audience',
      oneText,
    )
    .option(
      '--salt-ca-configmap <name>',
      'ConfigMap with the CA certificates for salt-api, in its key ca.crt',
      oneObjectName,
    )
    .option(
      '--requests <cpu=…,memory=…>',
      'resource requests of the pod (default: cpu=50m,memory=128Mi)',
      resources,
    )
    .option(
      '--limits <cpu=…,memory=…>',
      'resource limits of the pod (default: memory=512Mi)',
      resources,
    )
    .addOption(
      new Option('--log-level <level>', 'log level of the daemon (default: info)').choices([
        'info',
        'debug',
      ]),
    )
    .option('--node-selector <key=value,...>', 'labels of the nodes that may run its pods', labels)
    .option(
      '--labels <key=value,...>',
      'labels of all objects that are created, and of the pods, such as a policy demands',
      labels,
    );
}

function image(text: string, before?: string): string {
  if (text === '') throw new InvalidArgumentError('Write the name of an image.');
  return oneText(text, before);
}

function resources(text: string, before: Values['requests'] = {}): NonNullable<Values['requests']> {
  const given = labels(text, { ...before });
  if (Object.keys(given).some((key) => key !== 'cpu' && key !== 'memory')) {
    throw new InvalidArgumentError('Write cpu=…,memory=… or one of both.');
  }
  return given;
}
