import type { Precondition, Step } from '../../src/nodes/job.ts';
import type { LogicalVolume } from '../../src/storage/lvm/facts.ts';
import { dmUuidOf, isUnfinished, unfinishedTag } from '../../src/storage/lvm/names.ts';
import type { ObservedThinSnapshot } from '../../src/storage/lvm/snapshot.ts';
import { parseIntent } from '../../src/storage/records.ts';
import type { DesiredLvm, DeviceFacts, ObservedLvm } from '../../src/storage/types.ts';
import type { Killed } from './fake-node.ts';
import { dm, group, pool, thinLv, VG_UUID } from './lvm-input.ts';
import { stepsWithoutDisks } from './lvm-words.ts';
import { beside } from './thin-input.ts';
import { UID } from './volume-input.ts';

const RECORDS = '/var/lib/stowage/volumes/';

interface Thin {
  facts: LogicalVolume;
  /** UUID of the file system; `data` is what a user wrote. */
  uuid: string;
  data: string;
}

/**
 * Thin pool with one volume, as far as plans for its copies use it. Steps are interpreted by their
 * argv.
 */
export class FakeThin {
  readonly records = new Map<string, string>();
  readonly volumes: Thin[] = [{ facts: thinLv, uuid: UID, data: 'first' }];
  /** Copy below a layered device that was left behind. */
  inner: string | undefined;
  /** UUIDs that udev has ever seen, in order. */
  readonly seen: string[] = [];
  #pool: LogicalVolume = { ...pool, sizeBytes: 10n * pool.sizeBytes };
  #uuids = 0;

  get facts(): LogicalVolume[] {
    return [...this.volumes.map(({ facts }) => facts), this.#pool];
  }

  get stuck(): boolean {
    return this.facts.some(({ suspended }) => suspended);
  }

  named = (name: string): Thin | undefined => this.volumes.find(({ facts }) => facts.name === name);

  snapshot = (): ObservedThinSnapshot => ({
    type: 'lvm',
    groups: [group],
    volumes: this.facts,
    done: { sizeBytes: thinLv.sizeBytes },
  });

  observe(desired: DesiredLvm): ObservedLvm {
    const text = (what: string) => this.records.get(`${RECORDS}${desired.uid}.${what}`);
    const [intent, done] = ['intent', 'done'].map(text);
    const own = this.named(desired.name);
    const device = own?.facts.active ? deviceOf(own) : undefined;
    return beside(this.facts, {
      target: device === undefined ? { is: 'missing' } : { is: 'device', facts: device },
      devices: device === undefined ? [] : [device],
      intent: intent === undefined ? undefined : parseIntent(intent),
      done: done === undefined ? undefined : { sizeBytes: BigInt(done) },
      recordFiles: this.records.size > 0,
      link: device !== undefined && own?.uuid === desired.uid ? device.device : undefined,
    });
  }

  /**
   * Runs all steps to their end.
   * @throws Error for a failed precondition or step
   */
  run(steps: readonly Step[]): void {
    for (const step of stepsWithoutDisks(steps)) this.#step(step, false);
  }

  crash(steps: readonly Step[], number: number, killed: Killed): void {
    this.run(steps.slice(0, number));
    const [step] = stepsWithoutDisks(steps.slice(number, number + 1));
    if (step !== undefined && killed !== 'before') this.#step(step, killed === 'half');
  }

  reboot(): void {
    this.inner = undefined;
    this.#pool = { ...this.#pool, suspended: false };
    for (const { facts } of this.volumes)
      this.#set(facts.name, { active: false, suspended: false });
  }

  #step(step: Step, half: boolean): void {
    for (const precondition of step.preconditions) this.#check(precondition);
    this.#execute(step, half);
  }

  #check({ argv, expect, refusal }: Precondition): void {
    const line = argv.join(' ');
    const name = /vg0\/(\S+)$/.exec(line)?.[1] ?? '';
    const found = this.facts.find((each) => each.name === name);
    const wanted =
      expect.stdout !== undefined && 'has' in expect.stdout ? expect.stdout : undefined;
    const holds =
      line.includes('data_percent') || !line.startsWith('lvs ')
        ? !line.startsWith('test ! -e') || !this.records.has(argv.at(-1) ?? '')
        : line.includes('--select')
          ? !this.facts.some(({ uuid }) => uuid === wanted?.lacks)
          : `  ${line.includes('lv_tags') ? found?.tags.join(',') : found?.uuid}` === wanted?.has;
    if (!holds) throw new Error(`${refusal}: ${line}`);
  }

  #set(name: string, facts: Partial<LogicalVolume>): void {
    if (name === this.#pool.name) this.#pool = { ...this.#pool, ...facts };
    const found = this.named(name);
    if (found !== undefined) found.facts = { ...found.facts, ...facts };
    if (facts.active && found !== undefined) this.seen.push(found.uuid);
  }

  #execute({ argv, stdin = '' }: Step, half: boolean): void {
    const [program = '', ...args] = argv;
    const last = args.at(-1) ?? '';
    const name = last.replace(/^vg0\//, '');
    if (this.stuck && program.startsWith('lv') && !args.includes('--refresh'))
      throw new Error('LVM hangs');
    switch (program === 'sh' ? argv[3] : program) {
      case 'stowage-thin':
        this.#copy(argv.slice(5), half);
        return;
      case 'stowage-lvm-uuid':
        this.#identify(argv.slice(5), half);
        return;
      case 'lvextend':
        this.#set(name, { sizeBytes: BigInt(args[1] ?? 0) * group.extentBytes });
        return;
      case 'lvremove': {
        if (this.inner === name) throw new Error('the pool has it open');
        const found = this.named(name);
        const tag = /lv_tags=\{(.*?)\}/.exec(args[2] ?? '')?.[1] ?? '';
        if (found?.facts.active === false && found.facts.tags.includes(tag)) {
          this.volumes.splice(this.volumes.indexOf(found), 1);
        }
        return;
      }
      case 'lvchange':
        if (args.includes('--refresh')) this.#set(name, { suspended: false });
        else if (args.includes('--addtag'))
          this.#set(name, { tags: [args[args.indexOf('--addtag') + 1] ?? ''] });
        else
          this.#set(name, {
            active: args[1] === 'y',
            device: args[1] === 'y' ? dm.device : undefined,
          });
        return;
      case 'dd':
        this.records.set((args[0] ?? '').slice(3), stdin.trim());
        return;
      case 'mv':
        this.records.set(last, this.records.get(args.at(-2) ?? '') ?? '');
        this.records.delete(args.at(-2) ?? '');
        return;
      case 'rm':
        for (const path of args) this.records.delete(path);
    }
  }

  #copy([path = '', , name = '', uid = '', permission]: readonly string[], half: boolean): void {
    const origin = this.named(path.replace('vg0/', ''));
    if (origin === undefined || this.named(name) !== undefined)
      throw new Error(`no ${path}, or ${name}`);
    const facts: LogicalVolume = {
      ...origin.facts,
      ...{
        name,
        uuid: `copy-${this.#uuids++}`,
        tags: [unfinishedTag(uid)],
        origin: origin.facts.name,
      },
      ...{ writable: permission === 'rw', active: false, device: undefined },
    };
    // The pool may or may not have created the copy; here it has.
    this.volumes.push({ ...origin, facts, ...(half ? { data: 'half' } : {}) });
    if (!half) return;
    this.#set(origin.facts.name, { suspended: origin.facts.active });
    this.#set(this.#pool.name, { suspended: true });
  }

  #identify([path = '', uid = '', leave]: readonly string[], half: boolean): void {
    const found = this.named(path.replace('vg0/', ''));
    this.inner = undefined;
    if (leave !== undefined) return;
    if (found === undefined || !isUnfinished(found.facts, uid))
      throw new Error(`${path} is not unfinished`);
    if (half) this.inner = found.facts.name;
    else found.uuid = uid;
  }
}

function deviceOf({ facts, uuid }: Thin): DeviceFacts {
  const dmUuid = dmUuidOf(VG_UUID, facts.uuid);
  return {
    ...dm,
    sizeBytes: facts.sizeBytes,
    content: `ext4:${uuid}`,
    signature: { found: 'one', type: 'ext4', uuid },
    identity: `dm=${dmUuid} size=${facts.sizeBytes}`,
    dmUuid,
  };
}
