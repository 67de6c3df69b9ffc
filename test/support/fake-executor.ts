import type { Executor, Probe, ProbeResult } from '../../src/nodes/job.ts';
import { directoryRecord } from '../../src/storage/directory/directory-record.ts';
import { directory } from './volume-input.ts';

export const result = (exit: number, stdout = '', stderr = ''): ProbeResult => ({
  exit,
  stdout,
  stderr,
});
/** Answer of a program for a missing file. */
export const missing = result(1, '', "stat: cannot statx 'X': No such file or directory");

/**
 * Answers commands that check the use of a device, for an unused one. The output proves that they
 * searched.
 */
export function unused(argv: readonly string[]): ProbeResult {
  if (argv.join(' ') === 'cat /proc/swaps') return result(0, 'Filename Type Size Used Priority');
  if (argv[0] === 'timeout') return unused(argv.slice(4));
  if (argv[0] !== 'find') return result(0);
  if (argv.includes('-lname')) return result(0, '//dev/null/');
  const said = {
    '/proc': ' / /proc ',
    '/sys/fs': '/sys/fs',
    '-L': '/character special file|1:3/',
    '-H': '/dev/null',
  };
  return result(0, said[argv[1] as keyof typeof said] ?? '');
}

type Answer = ProbeResult | ((argv: readonly string[]) => ProbeResult);

export interface FakeNodeAnswers {
  /** Answers by the name of the probe. */
  probes: Record<string, Answer>;
  subjects?: string[] | Error;
}

export interface FakeExecutor extends Executor {
  /** Executed commands, as `node: argv`. */
  asked: string[];
  closed: boolean;
}

/**
 * Returns nodes that answer probes by name and run no jobs. If a node is an Error, all its calls
 * throw the Error.
 */
export function fakeExecutor(nodes: Record<string, FakeNodeAnswers | Error>): FakeExecutor {
  const nodeOf = (name: string): FakeNodeAnswers => {
    const node = nodes[name];
    if (node === undefined) throw new Error(`no node ${name}`);
    if (node instanceof Error) throw node;
    return node;
  };
  const never = async (): Promise<never> => {
    throw new Error('only looks at nodes were expected');
  };
  const executor: FakeExecutor = {
    asked: [],
    closed: false,
    async observe(name, probes) {
      const { probes: answers } = nodeOf(name);
      return new Map(
        probes.map((probe: Probe) => {
          executor.asked.push(`${name}: ${probe.argv.join(' ')}`);
          const answer = answers[probe.name];
          if (answer === undefined) throw new Error(`no answer for ${probe.name}`);
          return [probe.name, typeof answer === 'function' ? answer(probe.argv) : answer];
        }),
      );
    },
    async subjects(name) {
      const { subjects = [] } = nodeOf(name);
      if (subjects instanceof Error) throw subjects;
      return subjects;
    },
    submit: never,
    poll: never,
    purge: never,
    async close() {
      executor.closed = true;
    },
  };
  return executor;
}

/** Answers for a missing raw device. */
export const NO_DEVICE: FakeNodeAnswers['probes'] = {
  ...{ target: missing, 'wait for udev': result(0) },
  ...{ others: result(0), boot: result(0, 'b00t') },
};

/** Answers for a default directory with a record, on the root file system. */
export const ON_ROOT = {
  directory: (argv) =>
    argv.at(-1) === directoryRecord(directory.directory)
      ? result(
          0,
          JSON.stringify({ version: 1, directory: directory.directory, ...directory.recorded }),
        )
      : missing,
  'directory path': (argv) => result(0, argv.at(-1)),
  'file systems': result(0, `0:22 \n254:0 ${directory.now.uuid}\n7:3 a-b`),
} satisfies Record<string, Answer>;

/** Answers of a node that has nothing of a sparse Volume. */
export const EMPTY_NODE: Record<string, Answer> = {
  path: (argv) => result(0, argv.at(-1)),
  file: missing,
  partial: missing,
  free: result(0, '1000000|4096'),
  signature: result(2),
  readable: missing,
  intent: missing,
  done: missing,
  wiped: missing,
  records: missing,
  loops: result(
    0,
    '{"loopdevices": [{"name": "/dev/loop0", "back-file": "/other", "back-ino": 7, "maj:min": "7:0", "autoclear": false, "ro": false, "offset": 0, "sizelimit": 0}]}',
  ),
  devices: result(
    0,
    '{"blockdevices": [{"kname": "loop0", "maj:min": "7:0", "pkname": null, "type": "loop", "size": 1073741824, "ro": false, "serial": null, "wwn": null}]}',
  ),
  mounts: result(0, '24 1 254:0 / / rw - ext4 /dev/vda rw'),
  ...ON_ROOT,
  kubelet: result(0, '/dev/null'),
  capabilities: result(0),
  swaps: result(0, 'Filename Type Size Used Priority'),
  mappers: result(0),
  link: missing,
  'content link': missing,
  udev: result(0),
};
