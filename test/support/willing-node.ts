import { NodeError } from '../../src/nodes/errors.ts';
import type { Executor, Job } from '../../src/nodes/job.ts';
import { EMPTY_NODE, missing, result, unused } from './fake-executor.ts';

export interface WillingNodes extends Executor {
  /** Nodes that do not answer. */
  away: Set<string>;
}

/**
 * Returns nodes that run jobs at once. Each has space for one sparse Volume, and identifies it only
 * by its UID.
 */
export function willingNodes(sizeBytes: number): WillingNodes {
  /** Provisioned Volumes, by node. */
  const made = new Map<string, { uid: string; attached: boolean }>();
  /** Paths of copies of files; the last part is the UUID of the copy. */
  const copies = new Set<string>();
  const away = new Set<string>();
  const jobs = new Set<string>();
  const reach = (node: string) => {
    if (away.has(node)) throw new NodeError('unreachable', node, `node ${node} is away`);
  };
  return {
    away,
    async observe(node, probes) {
      reach(node);
      const there = made.get(node);
      const file = probes.find(({ name }) => name === 'path')?.argv.at(-1) ?? '';
      const isBackedUp = [...jobs].some(
        (job) => job.startsWith('backup-') && job.endsWith('backup-1'),
      );
      const answers = {
        ...EMPTY_NODE,
        backup: isBackedUp ? result(0, `9 ${'a'.repeat(64)}`) : missing,
        ...(there && madeNode(there.uid, file, sizeBytes)),
        ...(there?.attached && attachedNode(file, sizeBytes)),
        ...copyAnswers(copies, sizeBytes),
      };
      return new Map(
        probes.map(({ name, argv }) => {
          if (name.startsWith('free ')) return [name, result(0, '1000000|4096')];
          if (name.startsWith('files ')) return [name, missing];
          const answer = (answers as typeof EMPTY_NODE)[name] ?? unused(argv);
          return [name, typeof answer === 'function' ? answer(argv) : answer];
        }),
      );
    },
    async submit(node, { key, steps }: Job) {
      reach(node);
      const argvs = steps.map(({ argv }) => argv);
      jobs.add(`${key.subject} ${key.id}`);
      if (key.subject.startsWith('backup-')) return { state: 'succeeded' };
      if (key.id.startsWith('snapshot-')) {
        for (const [program, ...rest] of argvs) {
          if (program === 'mv') copies.add(rest.at(-1) ?? '');
          if (program === 'rm') copies.delete(rest.at(-1) ?? '');
        }
        return { state: 'succeeded' };
      }
      const removed = argvs.some((argv) => argv[0] === 'rm' && argv.at(-1)?.endsWith(key.subject));
      const detached = argvs.some(([program, option]) => program === 'losetup' && option === '-d');
      if (removed) made.delete(node);
      else made.set(node, { uid: key.subject, attached: !detached });
      return { state: 'succeeded' };
    },
    async poll(node, keys) {
      reach(node);
      return keys.map(({ subject, id }) => ({
        state: jobs.has(`${subject} ${id}`) ? 'succeeded' : 'not-found',
      }));
    },
    async purge(node) {
      reach(node);
      return true;
    },
    async subjects(node) {
      reach(node);
      return [];
    },
    async close() {},
  };
}

function madeNode(uid: string, file: string, sizeBytes: number) {
  const intent = { version: 1, uid, file, sizeBytes: String(sizeBytes), fsType: 'ext4' };
  return {
    file: (argv: readonly string[]) => result(0, statOf(argv[2] ?? '', sizeBytes)),
    signature: result(0, `UUID=${uid}\nTYPE=ext4\n`),
    readable: result(0),
    intent: result(0, JSON.stringify({ ...intent, signature: 'none', consent: 'none' })),
    done: result(0, `${sizeBytes}`),
    records: result(0, `${uid}.done`),
  };
}

function copyAnswers(copies: ReadonlySet<string>, sizeBytes: number) {
  type Argv = readonly string[];
  const uuid = (argv: Argv) => argv.at(-1)?.split('/').at(-1);
  return {
    copy: (argv: Argv) =>
      copies.has(argv.at(-1) ?? '') ? result(0, statOf(argv[2] ?? '', sizeBytes)) : missing,
    'copy signature': (argv: Argv) => result(0, `UUID=${uuid(argv)}\nTYPE=ext4\n`),
    'copy readable': result(0),
    snapshot: (argv: Argv) => result(0, statOf(argv[2] ?? '', sizeBytes)),
    'snapshot signature': result(0, 'TYPE=ext4\n'),
    'snapshot readable': result(0),
    'copy partial': missing,
    'copy partial path': (argv: Argv) => result(0, argv.at(-1)),
    'copy freeze': result(1),
    'source state': result(0, '1073741824|42|2026-07-01 10:00:00.500000000 +0000'),
    'source kind': result(0, 'xfs'),
  };
}

function attachedNode(file: string, sizeBytes: number) {
  const loop = { name: '/dev/loop0', 'back-file': file, 'back-ino': 42, 'maj:min': '7:0' };
  const device = { kname: 'loop0', 'maj:min': '7:0', pkname: null, type: 'loop', size: sizeBytes };
  return {
    loops: result(
      0,
      JSON.stringify({
        loopdevices: [{ ...loop, autoclear: false, ro: false, offset: 0, sizelimit: 0 }],
      }),
    ),
    devices: result(
      0,
      JSON.stringify({ blockdevices: [{ ...device, ro: false, serial: null, wwn: null }] }),
    ),
    link: result(0, '7:0'),
  };
}

/** Returns the output of stat(1) for the file, in a format. */
function statOf(format: string, sizeBytes: number): string {
  const facts: Record<string, string> = {
    '%F': 'regular file',
    '%s': String(sizeBytes),
    '%i': '42',
    '%b': String(sizeBytes / 512),
    '%B': '512',
  };
  return format.replaceAll(/%[A-Za-z]/g, (directive) => facts[directive] ?? directive);
}
