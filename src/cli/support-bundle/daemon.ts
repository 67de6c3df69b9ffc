import type { Deployment, Lease } from '../../api/core.ts';
import { StowageError } from '../../api/errors.ts';
import type { KubeObject, Resource } from '../../api/meta.ts';
import { COMPONENT } from '../../api/names.ts';
import { DEPLOYMENTS, LEASES, PODS } from '../../api/resources.ts';
import type { Connection } from '../../kube/connect.ts';
import { objectPath, queryString } from '../../kube/paths.ts';
import type { Io } from '../lib/io.ts';
import { fileName, Tail } from './bounds.ts';
import { type Objects, objectsOf } from './kinds.ts';
import { allBut, LIMITS, type Parts } from './parts.ts';
import { rankPods } from './rank-pods.ts';
import { REMOVED } from './redact/redact.ts';

export interface LogFlags {
  /** Maximum age of lines in ms; undefined for all. */
  since?: number | undefined;
  /** Maximum number of lines. */
  tail?: number | undefined;
}

/** Timeout of a log, or of the metrics of a pod. */
const TIMEOUT_MS = 60_000;

/** Maximum bytes of a refusal, which a pod may have written. */
const MAX_REFUSAL_BYTES = 1 << 20;

/** Maximum numbers: anyone may label pods as those of a daemon. */
const MOST_PODS = 10;
const MOST_CONFIG_MAPS = 20;

/** Metrics path, and port, of a daemon that sets neither. */
const DEFAULTS = { path: '/metrics', port: 8080 };

const CONFIG_MAPS: Resource = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
};

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
}

interface ConfigMapNames {
  configMap?: { name?: string };
  configMapRef?: { name?: string };
}
interface PodTemplate {
  containers?: {
    name: string;
    args?: string[];
    ports?: { name?: string; containerPort: number }[];
    env?: { valueFrom?: { configMapKeyRef?: { name?: string } } }[];
    envFrom?: ConfigMapNames[];
  }[];
  volumes?: (ConfigMapNames & { projected?: { sources?: ConfigMapNames[] } })[];
}
interface DaemonPod extends KubeObject {
  spec: PodTemplate;
  status?: { containerStatuses?: { name: string; restartCount?: number }[] };
}
type DaemonDeployment = Deployment & { spec?: { template?: { spec?: PodTemplate } } };

/** Adds the logs and metrics of the daemon's pods, and the ConfigMaps of its Deployments. */
export async function addDaemon(
  connection: Connection,
  objects: Objects,
  flags: LogFlags,
  parts: Parts,
  io: Io,
): Promise<void> {
  const deployments = objectsOf<DaemonDeployment>(objects, DEPLOYMENTS);
  const leases = objectsOf<Lease>(objects, LEASES);
  const pods = rankPods(objectsOf<DaemonPod>(objects, PODS), deployments, leases);
  if (pods.length > MOST_PODS)
    parts.problem('logs', `only ${MOST_PODS} of ${pods.length} pods are read`);
  await Promise.all([
    ...pods.slice(0, MOST_PODS).map((pod) => addPod(connection, pod, flags, parts, io)),
    addConfigMaps(connection, deployments, parts, io.signal),
  ]);
}

async function addPod(
  { transport }: Connection,
  pod: DaemonPod,
  flags: LogFlags,
  parts: Parts,
  io: Io,
): Promise<void> {
  const { name, namespace } = pod.metadata;
  const read = async (path: string, request: string, resource: string, limit: number) => {
    try {
      const { text, isCut } = await textOf(transport, request, resource, limit, io);
      if (isCut) parts.problem(path, allBut('last', limit));
      // Its markers may make it longer.
      await parts.addTail(path, text, limit);
    } catch (error) {
      io.signal.throwIfAborted();
      parts.problem(path, error);
    }
  };
  for (const container of pod.spec.containers ?? []) {
    const status = pod.status?.containerStatuses?.find((each) => each.name === container.name);
    // Why a container ended is at the end of its previous log.
    for (const previous of (status?.restartCount ?? 0) > 0 ? [false, true] : [false]) {
      const file = fileName([namespace, name, container.name].join('_'));
      const query = queryString({
        container: container.name,
        timestamps: true,
        sinceSeconds: flags.since && Math.ceil(flags.since / 1000),
        tailLines: flags.tail,
        ...(previous && { previous }),
      });
      await read(
        `logs/${file}${previous ? '.previous' : ''}.log`,
        objectPath(PODS, namespace, name, 'log') + query,
        'pods/log',
        LIMITS.log,
      );
    }
  }
  const { port, path } = metricsOf(pod);
  const proxied = `${objectPath(PODS, namespace, name)}:${port}/proxy`;
  const file = fileName([namespace, name].join('_'));
  await read(`metrics/${file}.txt`, `${proxied}${path}`, 'pods/proxy', LIMITS.metrics);
}

/** Returns where a pod of the daemon serves its metrics. Only a plain path is used. Pure. */
export function metricsOf({ spec }: Pick<DaemonPod, 'spec'>): { port: number; path: string } {
  const container = spec.containers?.find(({ name }) => name === COMPONENT) ?? spec.containers?.[0];
  const port = container?.ports?.find(({ name }) => name === 'http')?.containerPort;
  const path = container?.args
    ?.map((argument) =>
      /^--metrics-path=(\/[A-Za-z0-9._~-]+(?:\/[A-Za-z0-9._~-]+)*)$/.exec(argument),
    )
    .find((found) => found !== null)?.[1];
  const isPlain = path !== undefined && !/(^|\/)\.\.?(\/|$)/.test(path);
  return { port: port ?? DEFAULTS.port, path: isPlain ? path : DEFAULTS.path };
}

/**
 * Returns the end of a text of the API server, and whether it was cut. Throws a StowageError after
 * a timeout.
 */
async function textOf(
  transport: Connection['transport'],
  path: string,
  resource: string,
  limit: number,
  io: Io,
): Promise<{ text: string; isCut: boolean }> {
  const over = new AbortController();
  const ended = new AbortController();
  io.clock.sleep(TIMEOUT_MS, ended.signal).then(
    () =>
      over.abort(
        new StowageError(
          'timeout',
          `no end of the answer in ${TIMEOUT_MS / 1000} s: limit logs with --tail`,
        ),
      ),
    () => {},
  );
  const tail = new Tail(limit);
  try {
    const request = {
      method: 'GET',
      path,
      what: { verb: 'get', resource },
      signal: AbortSignal.any([io.signal, over.signal]),
      maxBytes: MAX_REFUSAL_BYTES,
    } as const;
    for await (const chunk of transport.stream(request)) tail.add(chunk);
  } finally {
    ended.abort();
  }
  return { text: tail.text(), isCut: tail.isCut };
}

async function addConfigMaps(
  { client }: Connection,
  deployments: readonly DaemonDeployment[],
  parts: Parts,
  signal: AbortSignal,
): Promise<void> {
  const found: object[] = [];
  const path = `objects/${CONFIG_MAPS.plural}.json`;
  const names = configMapsOf(deployments);
  if (names.length > MOST_CONFIG_MAPS)
    parts.problem(path, `only ${MOST_CONFIG_MAPS} of ${names.length} ConfigMaps are read`);
  for (const { namespace, name } of names.slice(0, MOST_CONFIG_MAPS)) {
    try {
      const options = { namespace, signal };
      found.push(withoutVariables(await client.get<ConfigMap>(CONFIG_MAPS, name, options)));
    } catch (error) {
      signal.throwIfAborted();
      parts.problem(path, error);
    }
  }
  await parts.addList(path, found);
}

/** Returns the ConfigMaps that Deployments name, each once. Pure. */
export function configMapsOf(
  deployments: readonly DaemonDeployment[],
): { namespace: string | undefined; name: string }[] {
  const named = deployments.flatMap(({ metadata: { namespace }, spec }) => {
    const { containers = [], volumes = [] } = spec?.template?.spec ?? {};
    const names = [
      ...volumes.flatMap(({ configMap, projected }) => [
        configMap?.name,
        ...(projected?.sources ?? []).map((source) => source.configMap?.name),
      ]),
      ...containers.flatMap(({ env = [], envFrom = [] }) => [
        ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
        ...envFrom.map(({ configMapRef }) => configMapRef?.name),
      ]),
    ];
    return names.flatMap((name) => (name === undefined ? [] : [{ namespace, name }]));
  });
  return [...new Map(named.map((each) => [JSON.stringify(each), each])).values()];
}

/** Removes values of a ConfigMap that may be variables but not Stowage's, and binary ones. Pure. */
export function withoutVariables({ data, binaryData, ...rest }: ConfigMap): ConfigMap {
  const kept = Object.entries(data ?? {}).map(([name, value]) => [
    name,
    /^[A-Z][A-Z0-9_]*$/.test(name) && !name.startsWith('STOWAGE_') ? REMOVED : value,
  ]);
  return {
    ...rest,
    ...(data && { data: Object.fromEntries(kept) }),
    ...(binaryData && {
      binaryData: Object.fromEntries(Object.keys(binaryData).map((name) => [name, REMOVED])),
    }),
  };
}
