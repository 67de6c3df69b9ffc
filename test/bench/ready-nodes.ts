import type { Executor, Probe, ProbeResult } from '../../src/nodes/job.ts';
import { SPARSE_DIRECTORY } from '../../src/storage/loopfile/file.ts';
import { ON_ROOT } from '../support/fake-executor.ts';
import { type Placed, SIZE } from './fill-cluster.ts';

export interface ReadyNodes extends Executor {
  volumes: number;
  /** Number of observations so far. */
  looks: number;
}

const UID = /[0-9a-f]{8}-[0-9a-f-]{27}/;
const result = (exit: number, stdout = '', stderr = ''): ProbeResult => ({ exit, stdout, stderr });
const missing = result(1, '', "stat: cannot statx 'X': No such file or directory");

interface ReadyNode {
  /** Loop device number of each Volume, by UID. */
  numbers: Map<string, number>;
  loops: string;
  devices: string;
}

/**
 * Returns nodes on which these Volumes are provisioned and attached. The nodes answer observations
 * only.
 */
export function readyNodes(placed: Placed): ReadyNodes {
  const nodes = new Map<string, ReadyNode>();
  for (const [node, uids] of Object.entries(placed)) {
    const numbers = new Map(uids.map((uid, number) => [uid, number]));
    const rows = [...numbers];
    const loopdevices = rows.map(([uid, number]) => loopRow(uid, number));
    const blockdevices = rows.map(([, number]) => sizeRow(number));
    nodes.set(node, {
      numbers,
      loops: JSON.stringify({ loopdevices }),
      devices: JSON.stringify({ blockdevices }),
    });
  }
  const never = async (): Promise<never> => {
    throw new Error('only looks were expected');
  };
  const executor: ReadyNodes = {
    volumes: Object.values(placed).flat().length,
    looks: 0,
    async observe(name, probes) {
      const node = nodes.get(name);
      if (node === undefined) throw new Error(`no node ${name}`);
      executor.looks += 1;
      return new Map(probes.map((probe) => [probe.name, answer(node, probe)]));
    },
    submit: never,
    poll: never,
    purge: never,
    subjects: never,
    close: async () => {},
  };
  return executor;
}

function answer({ numbers, loops, devices }: ReadyNode, { name, argv }: Probe): ProbeResult {
  const uid = UID.exec(argv.join(' '))?.[0] ?? '';
  const number = numbers.get(uid) ?? Number.NaN;
  switch (name) {
    case 'path':
      return result(0, fileOf(uid));
    case 'file':
      return result(0, `regular file|${SIZE}|${number + 1}|204800|512`);
    case 'free':
      return result(0, '268435456|4096');
    case 'signature':
      return result(0, `UUID=${uid}\nTYPE=ext4`);
    case 'intent':
      return result(0, intentOf(uid));
    case 'done':
      return result(0, String(SIZE));
    case 'records':
      return result(
        0,
        `/var/lib/stowage/volumes/${uid}.intent\n/var/lib/stowage/volumes/${uid}.done`,
      );
    case 'loops':
      return result(0, loops);
    case 'devices':
      return result(0, devices);
    case 'link':
      return result(0, `7:${number.toString(16)}`);
    case 'mounts':
      return result(0, '24 1 254:0 / / rw - ext4 /dev/vda rw');
    case 'directory':
      return ON_ROOT.directory(argv);
    case 'file systems':
      return ON_ROOT[name];
    case 'kubelet':
      return result(0, '/dev/null');
    case 'swaps':
      return result(0, 'Filename Type Size Used Priority');
    case 'partial':
    case 'wiped':
      return missing;
    default:
      return result(0);
  }
}

const fileOf = (uid: string) => `${SPARSE_DIRECTORY}/${uid}`;

const intentOf = (uid: string) =>
  JSON.stringify({
    version: 1,
    uid,
    file: fileOf(uid),
    sizeBytes: String(SIZE),
    fsType: 'ext4',
    signature: 'none',
    consent: 'none',
  });

const loopRow = (uid: string, number: number) => ({
  name: `/dev/loop${number}`,
  'back-file': fileOf(uid),
  'back-ino': String(number + 1),
  'maj:min': `7:${number}`,
  autoclear: false,
  ro: false,
  offset: 0,
  sizelimit: 0,
});

const sizeRow = (number: number) => ({
  kname: `loop${number}`,
  'maj:min': `7:${number}`,
  pkname: null,
  type: 'loop',
  size: String(SIZE),
  ro: false,
  serial: null,
  wwn: null,
});
