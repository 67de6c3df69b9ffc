import { basename, dirname, join } from 'node:path';
import { holds } from '../../src/nodes/check-preconditions.ts';
import type { ProbeResult, Step } from '../../src/nodes/job.ts';
import { directoryRecord } from '../../src/storage/directory/directory-record.ts';
import { readDirectory } from '../../src/storage/directory/observe.ts';
import type { ObservedDirectory } from '../../src/storage/directory/types.ts';
import { linkOf } from '../../src/storage/links.ts';
import { DIRECTORIES, parseIntent } from '../../src/storage/records.ts';
import { readText } from '../../src/storage/shared-fs/text.ts';
import { freezeRecord, snapshotFile } from '../../src/storage/snapshot/snapshot-path.ts';
import type { DesiredSnapshot, ObservedSnapshot } from '../../src/storage/snapshot/types.ts';
import type {
  DesiredSparse,
  EarlierFile,
  FileFacts,
  ObservedSparse,
  Signature,
  SourceFacts,
} from '../../src/storage/types.ts';
import { unused } from './fake-executor.ts';
import { UdevRules } from './udev-rules.ts';

/** Allocated bytes of each file, and free bytes of the file system. */
export const ALLOCATED = 64n << 20n;
export const FREE = 5n << 40n;

/**
 * Content of a file: a text, or the UUID of its file system (`none`: no file system that blkid
 * detects).
 */
type Content = { text: string } | { uuid: string | 'none' };
interface Place {
  inode: number;
  sizeBytes: bigint;
  /** Size of the file system in the file. */
  fsBytes?: bigint;
  type?: 'ext4' | 'xfs';
  /** Data of the user. */
  data?: string;
  /** Number of writes. */
  changes?: number;
  /** Set if the writing program was killed halfway. */
  torn?: boolean;
}
type File = Content & Place;

/**
 * Progress of a killed program: without an effect, with a part of it (see `half`), or with all of
 * it.
 */
export type Killed = 'before' | 'half' | 'after';

/**
 * Files, loop devices and links of a node, as far as plans use them. Steps are interpreted by their
 * argv.
 */
export class FakeNode {
  readonly files = new Map<string, File>();
  /**
   * Loop devices by number, with their backing files. `sizeBytes` is the size that the device read
   * from its file.
   */
  readonly loops = new Map<
    number,
    { file: string; inode: number; sizeBytes?: bigint; readOnly?: boolean }
  >();
  /** Numbers of mounted loop devices, by mount point. */
  readonly mounts = new Map<string, number>();
  /** Non-empty directories of the kubelet. */
  readonly kubelet = new Set<string>();
  /** Reports whether the node can grow a mounted file system. */
  growsMounted = true;
  readonly links = new Map<string, number>();
  readonly rules = new UdevRules();
  /** Total space of the file system. */
  spaceBytes = FREE;
  #inodes = 100;

  /** Returns the paths of files other than records. */
  volumeFiles(prefix: string): string[] {
    return [...this.files].flatMap(([path, file]) =>
      'uuid' in file && path.startsWith(prefix) ? [path] : [],
    );
  }

  /**
   * Runs all steps to their end.
   * @throws Error for a failed precondition or step
   */
  run(steps: readonly Step[]): void {
    for (const step of steps) {
      this.#check(step);
      this.#execute(step.argv, step.stdin ?? '');
    }
  }

  /** Crashes in the step with that number, after all steps before it. */
  crash(steps: readonly Step[], number: number, killed: Killed): void {
    this.run(steps.slice(0, number));
    const step = steps[number];
    if (step === undefined || killed === 'before') return;
    this.#check(step);
    if (killed === 'after') this.#execute(step.argv, step.stdin ?? '');
    else this.#half(step);
  }

  /** Reboots: everything outside of the file systems is lost. */
  reboot(): void {
    this.loops.clear();
    this.links.clear();
    this.rules.clear();
    this.mounts.clear();
    this.kubelet.clear();
  }

  /** Reports whether the file system can clone files. */
  clones = true;

  observeSnapshot({ uid, volume }: DesiredSnapshot): ObservedSnapshot {
    const copy = snapshotFile(volume, uid);
    return {
      volume: this.observe(volume),
      source: this.#source(volume.file),
      copy: this.#facts(copy),
      signature: this.#signature(copy),
      partial: this.#facts(`${copy}.partial`),
      partialBytes: 0n,
      partialPath: `${copy}.partial`,
      freezeIsLeft: this.files.has(freezeRecord(uid)),
    };
  }

  #earlier(path: string): EarlierFile {
    return {
      realPath: path,
      file: this.#facts(path),
      signature: this.#signature(path),
      beside: this.#beside(path),
    };
  }

  /** Returns the owner files only. */
  #beside(path: string): EarlierFile['beside'] {
    const owners = this.#owners(path).map((each) => {
      const text = this.#text(each)?.trimEnd() ?? '';
      return {
        number: Number(each.split('.').at(-1)),
        text,
        state: readText(text),
        since: undefined,
      };
    });
    return { owners: owners.toSorted((a, b) => a.number - b.number), marks: [], unfinished: [] };
  }

  #owners = (path: string): string[] =>
    [...this.files.keys()].filter((each) => each.startsWith(`${path}.owner.`));

  #source(path: string): SourceFacts {
    return {
      realPath: path,
      file: this.#facts(path),
      signature: this.#signature(path),
      state: this.files.has(path)
        ? this.answer(['stat', '-c', '%s|%i|%z', '--', path]).stdout
        : undefined,
      mayClone: this.clones,
    };
  }

  #signature(path: string): Signature {
    const found = this.files.get(path);
    const uuid = found !== undefined && 'uuid' in found ? found.uuid : 'none';
    return uuid === 'none'
      ? { found: 'none' }
      : { found: 'one', type: found?.type ?? 'ext4', uuid };
  }

  observe(desired: DesiredSparse): ObservedSparse {
    const { uid, file, source, adopt } = desired;
    const records = `/var/lib/stowage/volumes/${uid}.`;
    const intent = this.#text(`${records}intent`);
    const link = this.links.get(linkOf(desired));
    return {
      type: 'sparse',
      realPath: file,
      file: this.#facts(file),
      partial: this.#facts(`${file}.partial`),
      signature: this.#signature(file),
      intent: intent === undefined ? undefined : parseIntent(intent),
      done: this.files.has(`${records}done`)
        ? { sizeBytes: BigInt(this.#text(`${records}done`) ?? 0) }
        : undefined,
      wiped: undefined,
      devices: [],
      swaps: [],
      recordFiles: [...this.files.keys()].some((path) => path.startsWith(records)),
      loops: [...this.loops].map(([number, loop]) => ({
        name: `loop${number}`,
        number,
        device: `7:${number}`,
        backingFile:
          this.files.get(loop.file)?.inode === loop.inode ? loop.file : `${loop.file} (deleted)`,
        backingInode: String(loop.inode),
        autoclear: false,
        readOnly: loop.readOnly ?? false,
        wholeFile: true,
        sizeBytes: loop.sizeBytes ?? this.files.get(loop.file)?.sizeBytes ?? 0n,
      })),
      mounts: new Map([...this.mounts].map(([point, number]) => [`7:${number}`, [point]])),
      link: link === undefined ? undefined : `7:${link}`,
      udev: true,
      kubeletFolders: [...this.kubelet],
      growsMounted: this.growsMounted,
      space: { directory: dirname(file), freeBytes: FREE, allocatedBytes: ALLOCATED },
      directory: this.#directory(dirname(file)),
      ...(source === undefined ? {} : { source: this.#source(source.file) }),
      ...(adopt === undefined ? {} : { earlierFile: this.#earlier(join(dirname(file), adopt)) }),
    };
  }

  /** Observes a directory on the root file system. */
  #directory(path: string): ObservedDirectory {
    const record = this.#text(directoryRecord(path));
    const answers: Record<string, ProbeResult> = {
      directory:
        record === undefined
          ? { exit: 1, stdout: '', stderr: 'No such file or directory' }
          : { exit: 0, stdout: record, stderr: '' },
      mounts: { exit: 0, stdout: this.mountinfo(), stderr: '' },
      'file systems': { exit: 0, stdout: this.uuids(), stderr: '' },
    };
    return readDirectory(path, path, (name) => answers[name] as ProbeResult);
  }

  /** Output of findmnt. */
  uuids = (): string => '0:22 \n254:0 07f99387-d767-427c-84af-490d20627c13';

  /** Returns the mounts in the format of /proc. */
  mountinfo(): string {
    const lines = [...this.mounts].map(
      ([point, number]) => `36 24 7:${number} / ${point} rw - ext4 /dev/loop${number} rw`,
    );
    return [
      '24 1 254:0 /@ / rw,relatime - ext4 /dev/vda rw',
      '25 24 0:22 / /proc rw - proc proc rw',
      ...lines,
    ].join('\n');
  }

  #backing(device: string): File | undefined {
    return this.files.get(this.loops.get(numberOf(device))?.file ?? '');
  }

  #facts(path: string): FileFacts {
    const file = this.files.get(path);
    return file === undefined
      ? { type: 'missing' }
      : { type: 'file', sizeBytes: file.sizeBytes, inode: String(file.inode) };
  }

  #text(path: string): string | undefined {
    const file = this.files.get(path);
    return file !== undefined && 'text' in file ? file.text : undefined;
  }

  #write(path: string, content: Content, sizeBytes = 0n): void {
    this.files.set(path, {
      ...content,
      inode: this.files.get(path)?.inode ?? this.#inodes++,
      sizeBytes,
    });
  }

  #check(step: Step): void {
    for (const { argv, expect, refusal } of step.preconditions) {
      const answer = this.answer(argv);
      if (!holds(expect, answer)) throw new Error(`precondition of "${step.name}": ${refusal}`);
    }
  }

  /** Answers a read-only command. */
  answer(argv: readonly string[]): { exit: number; stdout: string } {
    const last = argv.at(-1) ?? '';
    const file = this.files.get(last);
    const content = file ?? this.#backing(last);
    const uuid = content !== undefined && 'uuid' in content ? content.uuid : 'none';
    switch (argv.slice(0, -1).join(' ')) {
      case 'test ! -e':
        return { exit: file === undefined ? 0 : 1, stdout: '' };
      case 'blkid -p':
        return { exit: uuid === 'none' ? 2 : 0, stdout: uuid };
      case 'blkid -p -n ext4,xfs -o value -s UUID':
        return uuid === 'none' ? { exit: 2, stdout: '' } : { exit: 0, stdout: uuid };
      case 'losetup -j': {
        const attached = [...this.loops].filter(
          ([, loop]) => file !== undefined && loop.inode === file.inode,
        );
        return { exit: 0, stdout: attached.map(([number]) => `/dev/loop${number}`).join('\n') };
      }
      case 'stat -c %s|%i|%z --':
        return {
          exit: 0,
          stdout: `${file?.sizeBytes}|${file?.inode}|${changedAt(file?.changes ?? 0)}`,
        };
      case 'stat -c %d --':
        return { exit: 0, stdout: '65024' };
      case 'cat':
        if (last.startsWith(DIRECTORIES)) {
          const text = this.#text(last);
          return { exit: text === undefined ? 1 : 0, stdout: text?.trimEnd() ?? '' };
        }
        if (last.includes('.owner.')) {
          const text = this.#text(last);
          return { exit: text === undefined ? 1 : 0, stdout: text?.trimEnd() ?? '' };
        }
        return unused(argv);
      case 'stat -c %s|%i --':
        return { exit: 0, stdout: `${file?.sizeBytes}|${file?.inode}` };
      case 'losetup -n --raw -O BACK-INO':
        return { exit: 0, stdout: String(this.loops.get(numberOf(last))?.inode ?? '') };
    }
    if (argv[0] === 'find' && argv[1] === '/proc' && argv[3] === '2')
      return { exit: 0, stdout: this.mountinfo() };
    if (argv[0] === 'find' && argv[1] === '-H') {
      return { exit: 0, stdout: [...this.kubelet, '/dev/null'].join('\n') };
    }
    if (argv[0] === 'find' && argv[5]?.endsWith('.owner.*')) {
      const known = argv.filter((_, index) => argv[index - 2] === '!');
      const path = `${argv[1]}${argv[5].slice(0, -'.owner.*'.length)}`;
      const others = this.#owners(path).filter((each) => !known.includes(basename(each)));
      return { exit: 0, stdout: others.join('\n') };
    }
    // Nothing else uses a device here.
    if (['find', 'timeout'].includes(argv[0] ?? '') || argv[0] === 'cat' || argv[0] === 'grep')
      return unused(argv);
    throw new Error(`no answer to ${argv.join(' ')}`);
  }

  #execute(argv: readonly string[], stdin: string): void {
    const [program = '', ...rest] = argv;
    const operands = rest.filter((word) => !word.startsWith('-'));
    const [first = ''] = operands;
    const last = operands.at(-1) ?? '';
    switch (program) {
      case 'mkdir':
      case 'install':
      case 'sync':
      case 'rmdir':
      case 'e2fsck':
        return;
      case 'umount':
        if (!this.mounts.delete(last)) throw new Error(`${last} is not mounted`);
        return;
      case 'resize2fs': {
        const file = this.#backing(last);
        if (file === undefined) throw new Error(`no ${last}`);
        // An interrupted resize could not be repaired.
        if (this.growsMounted) throw new Error(`${last} is not mounted`);
        // The program sees the size of the device, not of the file.
        file.fsBytes = this.loops.get(numberOf(last))?.sizeBytes ?? 0n;
        return;
      }
      case 'rm':
        for (const path of operands) this.files.delete(path);
        this.rules.remove(operands);
        return;
      case 'find':
        this.rules.write(argv);
        return;
      case 'truncate':
        if (this.files.has(last)) this.#get(last).sizeBytes = BigInt(first);
        else this.#write(last, { uuid: 'none' }, BigInt(first));
        return;
      case 'mkfs.ext4':
        this.#write(last, { uuid: rest[rest.indexOf('-U') + 1] ?? '' }, this.#get(last).sizeBytes);
        return;
      case 'dd':
        this.#write(first.replace('of=', ''), { text: stdin });
        return;
      case 'cp':
        this.#copy(first, last);
        return;
      case 'sh':
        this.#script(rest.slice(2));
        return;
      case 'mv':
        if (rest.includes('-n') && this.files.has(last)) return;
        this.files.set(last, this.#get(first));
        this.files.delete(first);
        return;
      case 'losetup':
        if (rest[0] === '-d') {
          this.loops.delete(numberOf(last));
          for (const [link, number] of this.links)
            if (number === numberOf(last)) this.links.delete(link);
          return;
        }
        if (rest[0] === '-c') {
          const loop = this.loops.get(numberOf(last));
          if (loop === undefined) throw new Error(`no ${last}`);
          loop.sizeBytes = this.#get(loop.file).sizeBytes;
          return;
        }
        if (this.loops.has(numberOf(first))) throw new Error(`${first} is busy`);
        this.loops.set(numberOf(first), {
          file: last,
          inode: this.#get(last).inode,
          sizeBytes: this.#get(last).sizeBytes,
          readOnly: rest[0] === '-r',
        });
        return;
      case 'flock':
        return;
      case 'udevadm':
        if (rest[0] === 'settle') this.#makeLinks();
        return;
    }
    throw new Error(`no program ${argv.join(' ')}`);
  }

  #copy(from: string, to: string): void {
    if (this.files.has(to)) throw new Error(`${to} is there`);
    this.files.set(to, { ...this.#get(from), inode: this.#inodes++ });
  }

  #script([name, , ...args]: string[]): void {
    const [first = '', second = '', source = '', partial = ''] = args;
    switch (name) {
      case 'stowage-freeze':
        if (first === 'thaw') {
          this.files.delete(freezeRecord(basename(second, '.partial')));
          return;
        }
        if (this.loops.get(this.mounts.get(first) ?? -1)?.file !== source)
          throw new Error(`${first} is another`);
        this.#copy(source, partial);
        return;
      case 'stowage-adopt':
      case 'stowage-ext4-uuid':
      case 'stowage-xfs-uuid':
        Object.assign(this.#get(first), {
          uuid: second,
          ...(source === 'grow' ? { fsBytes: this.#get(first).sizeBytes } : {}),
        });
        return;
      case 'stowage-grow': {
        const file = this.#backing(first);
        if (file === undefined || !('uuid' in file) || file.uuid !== second)
          throw new Error(`${first} is another`);
        // The program sees the size of the device, not of the file.
        file.fsBytes = this.loops.get(numberOf(first))?.sizeBytes ?? 0n;
        return;
      }
      case 'stowage-image':
        Object.assign(this.#get(first), { data: args.at(-1) });
        return;
    }
    throw new Error(`no script ${name}`);
  }

  /** Carries out a part of a program, if there is a state between nothing and all. */
  #half(step: Step): void {
    const [program, ...rest] = step.argv;
    if (program === 'rm') this.files.delete(rest.find((path) => this.files.has(path)) ?? '');
    if (program === 'dd') this.#execute(step.argv, (step.stdin ?? '').slice(0, 10));
    if (program === 'cp' || (rest[2] === 'stowage-freeze' && rest[4] !== 'thaw')) {
      this.#execute(step.argv, '');
      const partial = rest.findLast((word) => word.endsWith('.partial')) ?? '';
      // The watchdogs were killed, too.
      if (program !== 'cp')
        this.#write(freezeRecord(basename(partial, '.partial')), { text: 'frozen' });
      // The start of the copy, with the UUID, was written first.
      Object.assign(this.#get(partial), { torn: true });
    }
    if (rest[2] === 'stowage-xfs-uuid') {
      const [, , , , file = '', uid] = rest;
      let number = 0;
      while (this.loops.has(number)) number++;
      this.loops.set(number, { file, inode: this.#get(file).inode });
      if (number % 2 === 0) this.mounts.set(`/run/stowage/mounts/${uid}`, number);
    }
    if (rest[2] === 'stowage-image') {
      this.#execute(step.argv, '');
      Object.assign(this.#get(rest[4] ?? ''), { torn: true });
    }
    // udev creates links before the job waits for it.
    if (program === 'losetup' && rest[0] !== '-d') {
      this.#execute(step.argv, '');
      this.#makeLinks();
    }
  }

  #makeLinks(): void {
    for (const [number, { file }] of this.loops) {
      const found = this.files.get(file);
      if (found !== undefined && 'uuid' in found)
        this.links.set(`/dev/disk/by-uuid/${found.uuid}`, number);
      const keys = { 'ENV{DEVTYPE}': 'disk', 'ATTRS{loop/backing_file}': file };
      for (const link of this.rules.linksOf(keys)) this.links.set(link, number);
    }
  }

  #get(path: string): File {
    const file = this.files.get(path);
    if (file === undefined) throw new Error(`no file ${path}`);
    return file;
  }
}

/** Time as stat(1) prints it, which differs after each change. */
const changedAt = (changes: number) =>
  `2026-07-01 10:00:00.${String(changes).padStart(9, '0')} +0000`;

function numberOf(device: string): number {
  return Number(device.replace('/dev/loop', ''));
}
