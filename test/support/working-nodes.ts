import { NodeError } from '../../src/nodes/errors.ts';
import type { Executor, JobKey, JobState, Probe, ProbeResult } from '../../src/nodes/job.ts';
import { missing, result, unused } from './fake-executor.ts';
import { ALLOCATED, FakeNode, FREE } from './fake-node.ts';

export interface WorkingNodes extends Executor {
  /** Nodes that do not answer. */
  away: Set<string>;
  /** Number of started jobs. */
  started: number;
  /** Number of observations. */
  asked: number;
  /** Returns the number of loop devices of a node. */
  loopsOn(node: string): number;
  /** Detaches all devices, as in a reboot. */
  detachAll(node: string): void;
  /** Returns the state of a node, for checks and changes. */
  disk(node: string): FakeNode;
}

const text = (content: string | undefined) =>
  content === undefined ? missing : result(0, content);

/**
 * Returns nodes in memory that answer observations of sparse ext4 Volumes and their snapshots, and
 * run jobs at once, during their submission. Any name is a node.
 */
export function workingNodes(): WorkingNodes {
  const nodes = new Map<string, { disk: FakeNode; jobs: Map<string, JobState> }>();
  const reach = (name: string) => {
    if (executor.away.has(name)) throw new NodeError('unreachable', name, `node ${name} is away`);
    return of(name);
  };
  const of = (name: string) => {
    const node = nodes.get(name) ?? { disk: new FakeNode(), jobs: new Map<string, JobState>() };
    nodes.set(name, node);
    return node;
  };
  const idOf = ({ subject, id }: JobKey) => `${subject}/${id}`;
  const executor: WorkingNodes = {
    away: new Set(),
    started: 0,
    asked: 0,
    loopsOn: (name) => of(name).disk.loops.size,
    disk: (name) => of(name).disk,
    detachAll(name) {
      const { disk } = of(name);
      disk.loops.clear();
      disk.links.clear();
    },
    async observe(name, probes) {
      const { disk } = reach(name);
      executor.asked += 1;
      return new Map(probes.map((probe) => [probe.name, answer(disk, probe)]));
    },
    async submit(name, { key, steps }) {
      const { disk, jobs } = reach(name);
      const known = jobs.get(idOf(key));
      if (known !== undefined) return known;
      executor.started += 1;
      disk.run(steps);
      jobs.set(idOf(key), { state: 'succeeded' });
      return { state: 'succeeded' };
    },
    async poll(name, keys) {
      const { jobs } = reach(name);
      return keys.map((key) => jobs.get(idOf(key)) ?? { state: 'not-found' });
    },
    async purge(name, subject) {
      const { jobs } = reach(name);
      for (const id of jobs.keys()) if (id.startsWith(`${subject}/`)) jobs.delete(id);
      return true;
    },
    subjects: async (name) => [...reach(name).jobs.keys()].map((id) => id.split('/')[0] ?? ''),
    close: async () => {},
  };
  return executor;
}

function answer(disk: FakeNode, { name, argv }: Probe): ProbeResult {
  const path = argv.at(-1) ?? '';
  const file = disk.files.get(path);
  if (name.startsWith('precondition ')) return unused(argv);
  if (name.startsWith('free ')) {
    const used = ALLOCATED * BigInt(disk.volumeFiles('/').length);
    return result(0, `${(disk.spaceBytes - used) / 4096n}|4096`);
  }
  if (name.startsWith('files ')) {
    const rows = disk
      .volumeFiles(argv[1] ?? '')
      .map((each) => `${ALLOCATED / 512n}|${each.split('/').at(-1)}\n`);
    return result(0, rows.join(''));
  }
  switch (name) {
    case 'path':
    case 'source path':
    case 'copy partial path':
      return result(0, path);
    case 'file':
    case 'partial':
    case 'source file':
    case 'copy':
    case 'copy partial':
      return file === undefined
        ? missing
        : result(0, `regular file|${file.sizeBytes}|${file.inode}|${ALLOCATED / 512n}|512`);
    case 'free':
      return result(0, `${FREE / 4096n}|4096`);
    case 'signature':
    case 'source signature':
    case 'copy signature': {
      const uuid = file !== undefined && 'uuid' in file ? file.uuid : 'none';
      return uuid === 'none' ? result(2) : result(0, `UUID=${uuid}\nTYPE=ext4`);
    }
    case 'source state':
      return file === undefined ? missing : { ...disk.answer(argv), stderr: '' };
    case 'copy freeze':
      return file === undefined ? result(1) : result(0);
    case 'source kind':
      return result(0, 'xfs');
    case 'readable':
    case 'source readable':
    case 'copy readable':
      return disk.files.has(argv[1]?.replace('if=', '') ?? '') ? result(0) : missing;
    case 'directory':
    case 'intent':
    case 'done':
    case 'source done':
    case 'wiped':
      return text(file !== undefined && 'text' in file ? file.text.trim() : undefined);
    case 'records': {
      const records = `${argv[1]}${path.replace('*', '')}`;
      return text([...disk.files.keys()].find((each) => each.startsWith(records)));
    }
    case 'earlier':
      return text(
        [...disk.files]
          .filter(
            ([each, made]) =>
              each.startsWith(path) && 'text' in made && made.text?.includes(argv[3] ?? ''),
          )
          .map(([each]) => each)
          .join('\n') || undefined,
      );
    case 'loops':
      return result(
        0,
        JSON.stringify({ loopdevices: [...disk.loops.keys()].map((n) => loopRow(disk, n)) }),
      );
    case 'devices':
      return result(
        0,
        JSON.stringify({ blockdevices: [...disk.loops.keys()].map((n) => sizeRow(disk, n)) }),
      );
    case 'link':
    case 'content link': {
      const number = disk.links.get(path);
      return number === undefined ? missing : result(0, `7:${number.toString(16)}`);
    }
    case 'file systems':
      return result(0, disk.uuids());
    case 'directory path':
      return result(0, path);
    // Too small for any reserved space (see floorOf).
    case 'block devices':
      return result(
        0,
        '{"blockdevices":[{"kname":"vda","maj:min":"254:0","size":"1","ro":false}]}',
      );
    case 'mounts':
      return result(0, disk.mountinfo());
    case 'swaps':
    case 'kubelet':
      return { ...disk.answer(argv), stderr: '' };
    case 'capabilities':
    case 'udev':
    case 'mappers':
    case 'holders':
      return result(0);
    case 'boot':
      return result(0, '00000000-0000-4000-8000-000000000001');
    default:
      // Preconditions that are checked before their step.
      if (name.startsWith('precondition ')) return { ...disk.answer(argv), stderr: '' };
      throw new Error(`no answer to the probe ${name}`);
  }
}

function loopRow(disk: FakeNode, number: number): object {
  const { file = '', inode, readOnly = false } = disk.loops.get(number) ?? {};
  return {
    name: `/dev/loop${number}`,
    'back-file': file,
    'back-ino': String(inode),
    'maj:min': `7:${number}`,
    autoclear: false,
    ro: readOnly,
    offset: 0,
    sizelimit: 0,
  };
}

function sizeRow(disk: FakeNode, number: number): object {
  const { file = '', sizeBytes } = disk.loops.get(number) ?? {};
  return {
    kname: `loop${number}`,
    'maj:min': `7:${number}`,
    pkname: null,
    type: 'loop',
    size: String(sizeBytes ?? disk.files.get(file)?.sizeBytes ?? 0n),
    ro: false,
    serial: null,
    wwn: null,
  };
}
