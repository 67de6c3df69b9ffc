import { basename, dirname } from 'node:path';
import type { Precondition, Step } from '../../src/nodes/job.ts';
import { plan } from '../../src/storage/plan.ts';
import { readText } from '../../src/storage/shared-fs/text.ts';
import type { Mount, NodeHold, ObservedShared } from '../../src/storage/shared-fs/types.ts';
import type { DesiredSparse, ObservedSparse, VolumeOperation } from '../../src/storage/types.ts';
import { FILE, freshNode, loop, madeNode, sparseDesired } from './volume-input.ts';

/**
 * Model of a directory on a server that nodes share, and of nodes that run jobs on a file in it.
 */

export const NFS: Mount = {
  point: dirname(FILE),
  type: 'nfs4',
  ...{ source: 'files:/export/v', device: '0:52', root: '/' },
  readOnly: false,
  options: ['rw', 'vers=4.2', 'hard', 'local_lock=none'],
};

/** Observation of a shared file without an owner. */
export const QUIET: ObservedShared = {
  bootId: '00000000-0000-4000-8000-000000000001',
  mount: NFS,
  owners: [],
  marks: [],
  unfinished: [],
};

export const sharedDesired: DesiredSparse = {
  ...sparseDesired,
  recorded: true,
  onDemand: true,
  shared: true,
  owner: { node: 'n1', token: 't1' },
};

/** Inode, which may have two names. */
interface Inode {
  text: string;
}

/** State of the server. Every change of a name is atomic. */
export class FakeShare {
  readonly names = new Map<string, Inode>();

  /** Returns an observation of the directory. */
  observe(bootId: string): ObservedShared {
    const owners: ObservedShared['owners'][number][] = [];
    const marks: ObservedShared['marks'][number][] = [];
    const unfinished: ObservedShared['unfinished'][number][] = [];
    for (const [path, { text }] of this.names) {
      const [, kind, rest = ''] = /\.(owner|reader|new)\.(.*)$/.exec(path) ?? [];
      const says = readText(text);
      const node = rest.replace(/-[a-z0-9]+$/, '');
      if (kind === 'owner')
        owners.push({ number: Number(rest), state: says, text, since: undefined });
      if (kind === 'reader')
        marks.push({ path, node, by: says.is === 'held' ? says.by : undefined });
      if (kind === 'new') unfinished.push({ path, node });
    }
    return {
      bootId,
      mount: NFS,
      owners: owners.toSorted((a, b) => a.number - b.number),
      marks,
      unfinished,
    };
  }
}

/** Thrown for a failed precondition or command: the rest of the job does not run. */
export class Stopped extends Error {}

export class FakeSharer {
  boots = 1;
  /** State of the attachment: none, read-write or read-only. */
  attached: 'no' | 'rw' | 'ro' = 'no';
  /** Set while something uses the device. */
  busy = false;
  /** Number of the job, new for each like an attempt. */
  attempts = 0;

  readonly name: string;
  readonly share: FakeShare;

  constructor(name: string, share: FakeShare) {
    this.name = name;
    this.share = share;
    share.names.set(FILE, share.names.get(FILE) ?? { text: 'data' });
  }

  get bootId(): string {
    return `${this.name.padEnd(8, '0').replace(/[^0-9a-f]/g, '0')}-0000-4000-8000-${String(this.boots).padStart(12, '0')}`;
  }

  reboot(): void {
    this.boots++;
    this.attached = 'no';
    this.busy = false;
  }

  desired(more: Partial<DesiredSparse>, takeOver: readonly NodeHold[]): DesiredSparse {
    const owner = { node: this.name, token: `t${this.attempts}`, takeOver };
    return { ...sharedDesired, ...more, owner };
  }

  observe(): ObservedSparse {
    const shared = this.share.observe(this.bootId);
    if (!this.share.names.has(FILE)) return { ...freshNode, shared };
    const loops = this.attached === 'no' ? [] : [{ ...loop, readOnly: this.attached === 'ro' }];
    return { ...madeNode, loops, link: loops[0]?.device, shared };
  }

  /** @throws Error if the plan is refused */
  steps(
    operation: VolumeOperation,
    desired: DesiredSparse,
    observed = this.observe(),
  ): readonly Step[] {
    const made = plan(operation, desired, observed, 3);
    if ('refusal' in made) throw new Error(made.refusal);
    return made.steps;
  }

  /** Runs one precondition or command per iteration, so that tests can interleave other actions. */
  *run(steps: readonly Step[]): Generator<void> {
    for (const step of steps) {
      for (const precondition of step.preconditions) {
        this.#check(precondition);
        yield;
      }
      this.#execute(step);
      yield;
    }
  }

  /** Runs all steps without interruption. */
  finish(steps: readonly Step[]): void {
    for (const _ of this.run(steps));
  }

  #check({ argv, expect, refusal }: Precondition): void {
    const answer = this.#answer(argv);
    if (answer === undefined) return;
    const right =
      expect.stdout === undefined || ('is' in expect.stdout && expect.stdout.is === answer.stdout);
    if (expect.exit !== answer.exit || !right) throw new Stopped(refusal);
  }

  /** @returns undefined for a command whose expectation always holds in this model */
  #answer(argv: readonly string[]): { exit: number; stdout: string } | undefined {
    const { names } = this.share;
    const last = argv.at(-1) ?? '';
    switch (argv[0]) {
      case 'cat': {
        if (last.endsWith('/boot_id')) return { exit: 0, stdout: this.bootId };
        if (!last.startsWith(FILE)) return undefined;
        const text = names.get(last)?.text;
        return text === undefined ? { exit: 1, stdout: '' } : { exit: 0, stdout: text };
      }
      case 'test':
        return { exit: names.has(last) === (argv[1] === '!') ? 1 : 0, stdout: '' };
      case 'find': {
        if (argv[1] !== `${dirname(FILE)}/`) return undefined;
        const [, prefix = '', ...known] = argv
          .filter((_, at) => argv[at - 1] === '-name')
          .flatMap((each, at) => (at === 0 ? ['', each.replace('*', '')] : [each]));
        const found = [...names.keys()].filter(
          (path) => basename(path).startsWith(prefix) && !known.includes(basename(path)),
        );
        return { exit: 0, stdout: found.join('\n') };
      }
      case 'losetup':
        return argv[1] === '-j'
          ? { exit: 0, stdout: this.attached === 'no' || last !== FILE ? '' : '/dev/loop3' }
          : undefined;
    }
    return undefined;
  }

  #execute({ argv, stdin = '' }: Step): void {
    const { names } = this.share;
    const [program, ...rest] = argv;
    const [first = '', last = ''] = rest.filter((word) => !word.startsWith('-'));
    switch (program) {
      case 'rm':
        for (const path of rest.filter((word) => word.startsWith('/'))) names.delete(path);
        return;
      case 'dd': {
        const path = first.replace('of=', '');
        if (rest.some((word) => /^conv=.*excl/.test(word)) && names.has(path))
          throw new Stopped(`${path} exists`);
        names.set(path, { text: stdin.trimEnd() });
        return;
      }
      case 'ln':
        if (names.has(last)) throw new Stopped(`${last} exists`);
        names.set(last, this.#inode(first));
        return;
      case 'mv':
        names.set(last, this.#inode(first));
        names.delete(first);
        return;
      case 'losetup':
        if (rest[0] === '-d') this.attached = this.busy ? this.attached : 'no';
        else if (!names.has(FILE)) throw new Stopped(`no ${FILE}`);
        else this.attached = rest.includes('-r') ? 'ro' : 'rw';
    }
  }

  #inode(path: string): Inode {
    const found = this.share.names.get(path);
    if (found === undefined) throw new Stopped(`no ${path}`);
    return found;
  }
}
