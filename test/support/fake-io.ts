import { Readable } from 'node:stream';
import type { KubeObject, Resource } from '../../src/api/meta.ts';
import type { Io, Output } from '../../src/cli/lib/io.ts';
import type { Prompts } from '../../src/cli/lib/prompts/prompts.ts';
import { run } from '../../src/cli/run.ts';
import type { ConnectOptions } from '../../src/kube/connect.ts';
import { ApiError } from '../../src/kube/errors.ts';
import type { Transport } from '../../src/kube/transport.ts';
import type {
  DeleteOptions,
  KubeClient,
  SelectOptions,
  WatchEvent,
  WriteOptions,
} from '../../src/kube/types.ts';
import type { NodeExecutorOptions } from '../../src/model/node-executor.ts';
import type { Executor } from '../../src/nodes/job.ts';
import { FakeClock } from './fake-clock.ts';

/** Result of a command, with its requests and questions. */
export interface Outcome {
  code: number;
  out: string;
  err: string;
  /** Requests in order, as `verb plural/name`, with their options and objects. */
  requests: { what: string; options: object | undefined; object?: object }[];
  connections: ConnectOptions[];
  /** Options of the node executor, if it was used. */
  nodesAs?: NodeExecutorOptions;
  questions: string[];
  /** Choices of each question that offers any. */
  choices: string[][];
}

export interface World {
  /** Existing objects, by `plural/name`. */
  objects?: Record<string, KubeObject>;
  /** Events of each watch before it stays silent. A function is called for each watch. */
  events?: WatchEvent[] | (() => Iterable<WatchEvent>);
  /** Errors by request, as `verb plural/name`. */
  failures?: Record<string, Error>;
  /**
   * Answers of the API server by path, beside those for objects. An Error is thrown,
   * and a function is called with the signal of the request.
   */
  paths?: Record<string, unknown>;
  /** Version of the server, or the error of the request. */
  serverVersion?: string | Error;
  /** Executor for nodes. */
  executor?: Executor;
  tty?: boolean;
  /** Replaces standard output; also receives standard error. */
  terminal?: Output;
  /** Piped input; without it, standard input is a terminal if `tty` is set. */
  stdin?: string;
  /** Answers to questions, in order. An Error is thrown. */
  answers?: (string | boolean | Error)[];
  /** Called while a question waits for its answer. */
  onQuestion?: () => void;
  env?: Record<string, string>;
  clock?: FakeClock;
  /** Time of day of the API server, in ms since the epoch. Default: that of the clock. */
  serverTime?: () => number | undefined;
  signal?: AbortSignal;
}

const notFound = (key: string) =>
  new ApiError(
    {
      apiVersion: 'v1',
      kind: 'Status',
      status: 'Failure',
      reason: 'NotFound',
      message: `${key} not found`,
      details: { name: key },
    },
    404,
    key,
  );

/** Runs a command line against objects in memory. */
export async function stowage(argv: string[], world: World = {}): Promise<Outcome> {
  const { io, outcome } = fakeIo(world);
  outcome.code = await run(argv, io);
  return outcome;
}

/** Returns the I/O of a command, and its outcome. */
export function fakeIo(world: World = {}): { io: Io; outcome: Outcome } {
  const objects = world.objects ?? {};
  const outcome: Outcome = {
    code: -1,
    out: '',
    err: '',
    requests: [],
    connections: [],
    questions: [],
    choices: [],
  };
  const request = (
    verb: string,
    { plural }: Resource,
    name: string,
    options?: object,
    object?: object,
  ) => {
    const key = `${plural}/${name}`;
    outcome.requests.push({ what: `${verb} ${key}`, options, ...(object && { object }) });
    const failure = world.failures?.[`${verb} ${key}`];
    if (failure !== undefined) throw failure;
    return key;
  };
  const existing = (key: string): KubeObject => {
    const object = objects[key];
    if (object === undefined) throw notFound(key);
    return object;
  };
  const clock = world.clock ?? new FakeClock();
  const serverTime = world.serverTime ?? (() => clock.timeOfDay());
  const client: KubeClient = {
    serverTime,
    async get<T>(resource: Resource, name: string) {
      return existing(request('get', resource, name)) as T;
    },
    async list(resource: Resource, { fieldSelector, ...options }: SelectOptions = {}) {
      request('list', resource, fieldSelector ?? '*', options);
      const items = Object.entries(objects).filter(([key]) =>
        !fieldSelector?.startsWith('metadata.name=')
          ? key.startsWith(`${resource.plural}/`)
          : key === `${resource.plural}/${fieldSelector.replace('metadata.name=', '')}`,
      );
      return {
        apiVersion: 'v1',
        kind: 'List',
        metadata: { resourceVersion: '1' },
        items: items.map(([, object]) => object) as never[],
      };
    },
    async create<T extends KubeObject>(resource: Resource, object: T, options: WriteOptions = {}) {
      const key = request('create', resource, object.metadata.name, options, object);
      const made = {
        ...object,
        metadata: { ...object.metadata, uid: `uid-${object.metadata.name}` },
      };
      if (!options.dryRun) objects[key] = made;
      return made;
    },
    async patch<T extends KubeObject>(
      resource: Resource,
      name: string,
      patch: object,
      { dryRun }: WriteOptions = {},
    ) {
      return existing(
        request('patch', resource, name, dryRun ? { dryRun } : undefined, patch),
      ) as T;
    },
    async delete(resource: Resource, name: string, options: DeleteOptions = {}) {
      existing(request('delete', resource, name, options));
    },
    async *watch<T extends KubeObject>(
      _resource: Resource,
      { signal, fieldSelector }: Pick<SelectOptions, 'signal' | 'fieldSelector'>,
    ) {
      const name = fieldSelector?.replace('metadata.name=', '');
      const { events = [] } = world;
      for (const event of (typeof events === 'function' ? events() : events) as Iterable<
        WatchEvent<T>
      >) {
        if (name === undefined || event.object.metadata.name === name) yield event;
      }
      await new Promise((_, reject) => {
        if (signal?.aborted) reject(signal.reason);
        signal?.addEventListener('abort', () => reject(signal.reason));
      });
    },
  };
  const transport: Transport = {
    server: 'https://cluster.example',
    serverTime,
    async send({ method, path, signal }) {
      outcome.requests.push({ what: `${method} ${path}`, options: undefined });
      const answer = world.paths?.[path];
      if (answer instanceof Error) throw answer;
      if (answer === undefined) throw notFound(path);
      return typeof answer === 'function' ? answer(signal) : answer;
    },
    // biome-ignore lint/correctness/useYield: no command streams.
    async *stream() {
      throw new Error('no stream was expected');
    },
  };
  // Bytes of an archive are kept as latin1.
  const collect = (into: 'out' | 'err') => (data: string | Uint8Array) => {
    outcome[into] += typeof data === 'string' ? data : Buffer.from(data).toString('latin1');
  };
  const answers = (world.answers ?? []).values();
  const ask = async (
    message: string,
    problem: (answer: string) => string | undefined = () => undefined,
  ) => {
    for (const answer of answers) {
      outcome.questions.push(message);
      world.onQuestion?.();
      if (answer instanceof Error) throw answer;
      if (typeof answer === 'boolean' || problem(answer) === undefined) return answer;
    }
    throw new Error(`not expected: ${message}`);
  };
  const prompts: Prompts = {
    input: (message, problem) => ask(message, problem) as Promise<string>,
    select: (message, choices) => {
      outcome.choices.push(
        choices.map(({ name, disabled }) => name + (disabled ? ` (${disabled})` : '')),
      );
      return ask(message, (answer) =>
        choices.some(({ value, disabled }) => value === answer && disabled === undefined)
          ? undefined
          : 'no choice',
      ) as Promise<string>;
    },
    confirm: (message) => ask(message) as Promise<boolean>,
  };
  const io: Io = {
    stdin: Object.assign(Readable.from([Buffer.from(world.stdin ?? '')]), {
      isTTY: world.stdin === undefined && (world.tty ?? false),
    }),
    stdout: world.terminal ?? { write: collect('out'), isTTY: world.tty ?? false },
    stderr: {
      write(text) {
        collect('err')(text);
        world.terminal?.write(text);
      },
      isTTY: world.tty ?? false,
    },
    env: world.env ?? {},
    signal: world.signal ?? new AbortController().signal,
    onHangup() {},
    clock,
    connect: async (options) => {
      outcome.connections.push(options);
      return {
        client,
        transport,
        namespace: options.namespace ?? 'default',
        server: 'https://cluster.example',
        reload() {},
        async serverVersion() {
          const { serverVersion = 'v1.32.0' } = world;
          if (serverVersion instanceof Error) throw serverVersion;
          return { gitVersion: serverVersion };
        },
      };
    },
    nodes: async (options) => {
      outcome.nodesAs = options;
      if (world.executor === undefined) throw new Error('no node was expected to be looked at');
      return world.executor;
    },
    prompts: async () => prompts,
  };
  return { io, outcome };
}
