import { type Command, Option } from 'commander';
import { CONTROLLERS, selectControllers } from '../../api/controllers.ts';
import { DEFAULT_GATES, type FeatureGates } from '../../api/feature-gates.ts';
import { populatorUser } from '../../controllers/populator/pod-security.ts';
import {
  SNAPSHOT_CONTROLLERS,
  type SnapshotController,
} from '../../controllers/snapshot/controller-mode.ts';
import type { WatchOptions } from '../../manager/watch.ts';
import { systemClock } from '../../workqueue/clock.ts';
import { applyEnvironment } from '../lib/config/environment.ts';
import { addExamples } from '../lib/examples.ts';
import { featureGates } from '../lib/feature-gates.ts';
import { connectFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { addNodeOptions } from '../lib/nodes/flags.ts';
import {
  directory,
  duration,
  durationOption,
  durationOr,
  objectName,
  onOrOff,
  wholeNumber,
} from '../lib/parse.ts';

interface WatchFlags extends GlobalFlags {
  config?: string;
  controllers: string;
  /** ms; Infinity: never. */
  maxWaitForUnmount: number;
  attachmentPollInterval: number;
  kubeletRootDir: string;
  snapshotController: SnapshotController;
  featureGates?: Partial<FeatureGates>;
  crossNamespaceSnapshot: boolean;
  leaderElection: boolean;
  leaderElectionNamespace?: string;
  /** ms */
  leaderElectionLeaseDuration: number;
  leaderElectionRenewDeadline: number;
  leaderElectionRetryPeriod: number;
  httpEndpoint?: string;
  metricsPath: string;
  kubeApiQps?: number;
  kubeApiBurst?: number;
}

export default function watch(program: Command, io: Io): void {
  const command = program
    .command('watch')
    .description('run the daemon, which provisions, attaches, snapshots and removes volumes');
  command
    .option(
      '--controllers <list>',
      `controllers to run: ${CONTROLLERS.join(', ')}; * is all, and -NAME excludes one, as in '*,-leftover'`,
      '*',
    )
    .option(
      '--workers <number>',
      'maximum number of Volumes of a node to reconcile in parallel',
      wholeNumber(1, 1000),
      10,
    )
    .addOption(
      durationOption('--retry-interval-start <duration>', 'first delay before a retry', '1s'),
    )
    .addOption(
      durationOption('--retry-interval-max <duration>', 'maximum delay before a retry', '5m'),
    )
    .addOption(
      new Option(
        '--max-wait-for-unmount <duration|never>',
        'maximum time that a detach waits for a NotReady node',
      )
        .argParser(durationOr('never'))
        .default(duration('6m'), '6m'),
    )
    .addOption(
      new Option(
        '--attachment-poll-interval <duration>',
        'interval at which nodes are checked for devices that disappeared; 0 is never',
      )
        .argParser(durationOr('0'))
        .default(Number.POSITIVE_INFINITY, '0'),
    )
    .addOption(
      new Option('--kubelet-root-dir <path>', 'root directory of the kubelets')
        .argParser(directory)
        .default('/var/lib/kubelet'),
    )
    .addOption(
      new Option(
        '--snapshot-controller <mode>',
        'controller that binds VolumeSnapshots: builtin is this daemon, external the standard snapshot-controller, auto the one that is detected',
      )
        .choices([...SNAPSHOT_CONTROLLERS])
        .default('auto'),
    )
    .option(
      '--feature-gates <gate=bool,...>',
      'CrossNamespaceVolumeDataSource: allow data sources of claims in other namespaces, with a grant (default: false)',
      featureGates(DEFAULT_GATES),
    )
    .addOption(
      new Option(
        '--cross-namespace-snapshot [true|false]',
        'fill claims from VolumeSnapshotLinks; if false, another populator must do so',
      )
        .argParser(onOrOff)
        .default(true),
    )
    .addOption(
      new Option(
        '--leader-election [true|false]',
        'work only while holding the Lease, so that no other daemon does',
      )
        .argParser(onOrOff)
        .default(true),
    )
    .option(
      '--leader-election-namespace <name>',
      'namespace of the Lease (default: that of -n, or of the context)',
      objectName,
    )
    .addOption(
      durationOption(
        '--leader-election-lease-duration <duration>',
        'time without renewal after which another daemon takes over',
        '15s',
      ),
    )
    .addOption(
      durationOption(
        '--leader-election-renew-deadline <duration>',
        'time without renewal after which the leader stops',
        '10s',
      ),
    )
    .addOption(
      durationOption(
        '--leader-election-retry-period <duration>',
        'interval of attempts to acquire or renew the Lease',
        '2s',
      ),
    )
    .option(
      '--http-endpoint <address>',
      'address that serves /healthz, /readyz and metrics, such as :8080 (default: off)',
    )
    .option('--metrics-path <path>', 'path of the metrics on --http-endpoint', '/metrics')
    .option(
      '--kube-api-qps <number>',
      'maximum requests per second to the API server (default: no limit)',
      wholeNumber(1, 100_000),
    )
    .option(
      '--kube-api-burst <number>',
      'maximum burst of requests to the API server (default: --kube-api-qps)',
      wholeNumber(1, 100_000),
    )
    .action(async (_flags, command: Command) => {
      // A SIGHUP before the configuration can be reloaded must not end the daemon.
      io.onHangup(() => {});
      applyEnvironment(command, io.env);
      const flags = command.optsWithGlobals<WatchFlags>();
      checkTimes(command, flags);
      const { settingsReader } = await import('../lib/config/reader.ts');
      const read = settingsReader(command);
      const settings = await read();
      const { runWatch } = await import('../../manager/watch.ts');
      const {
        leaderElectionNamespace,
        kubeApiQps,
        kubeApiBurst,
        attachmentPollInterval: pollMs,
      } = flags;
      const controllers = selectControllers(flags.controllers);
      const http = await httpOf(flags);
      const { createMetrics } = await import('../../manager/metrics/metrics.ts');
      // Metrics are collected only if they are served.
      const metrics =
        http && createMetrics({ clock: systemClock, transportOf: () => settings.transport });
      const connection = await connectFor(command, io, metrics?.onCall);
      const { refuseToActBesideOperator } = await import('../install/metalk8s/operator.ts');
      await refuseToActBesideOperator(connection.client, io.signal);
      const election = {
        namespace: leaderElectionNamespace ?? connection.namespace,
        leaseDurationMs: flags.leaderElectionLeaseDuration,
        renewDeadlineMs: flags.leaderElectionRenewDeadline,
        retryPeriodMs: flags.leaderElectionRetryPeriod,
      };
      await runWatch({
        connection,
        ...(metrics && { metrics }),
        settings,
        ...(flags.config === undefined ? {} : { config: { path: flags.config, read } }),
        onHangup: io.onHangup,
        controllers,
        namespace: election.namespace,
        populatorUser: populatorUser(
          process.getuid?.(),
          io.env.KUBERNETES_SERVICE_HOST !== undefined,
        ),
        crossNamespace: flags.featureGates?.CrossNamespaceVolumeDataSource ?? false,
        links: flags.crossNamespaceSnapshot,
        attachment: {
          pollIntervalMs: Number.isFinite(pollMs) ? pollMs : undefined,
          maxWaitForUnmountMs: flags.maxWaitForUnmount,
          kubeletRoot: flags.kubeletRootDir,
        },
        snapshotController: flags.snapshotController,
        ...(flags.leaderElection ? { election } : {}),
        ...(kubeApiQps === undefined
          ? {}
          : { rate: { qps: kubeApiQps, burst: kubeApiBurst ?? kubeApiQps } }),
        ...(http === undefined ? {} : { http }),
        verbose: flags.verbose ?? false,
        signal: io.signal,
      });
    });
  addNodeOptions(command);
  addExamples(command, [
    'stowage watch',
    '# With probes and metrics',
    'stowage watch --http-endpoint :8080',
    '# On the node itself, without ssh',
    'stowage watch --transport local --local-node n1',
  ]);
}

/** Ends the command with a usage error if times contradict each other. */
function checkTimes(command: Command, flags: WatchFlags): void {
  const { leaderElectionLeaseDuration, leaderElectionRenewDeadline, leaderElectionRetryPeriod } =
    flags;
  if (leaderElectionRenewDeadline >= leaderElectionLeaseDuration) {
    command.error(
      'error: --leader-election-renew-deadline must be less than --leader-election-lease-duration: a leader must stop before another starts',
    );
  }
  // A request that hangs is given half of the renew deadline.
  if (leaderElectionRetryPeriod * 2 > leaderElectionRenewDeadline) {
    command.error(
      'error: --leader-election-retry-period must be at most half of --leader-election-renew-deadline: one failed attempt must not lose the Lease',
    );
  }
  if (flags.kubeApiBurst !== undefined && flags.kubeApiQps === undefined) {
    command.error('error: --kube-api-burst requires --kube-api-qps');
  }
}

async function httpOf({ httpEndpoint, metricsPath }: WatchFlags): Promise<WatchOptions['http']> {
  const { checkMetricsPath, parseHttpAddress } = await import('../../manager/http-address.ts');
  const path = checkMetricsPath(metricsPath);
  return httpEndpoint === undefined
    ? undefined
    : { address: parseHttpAddress(httpEndpoint), metricsPath: path };
}
