import type { Content } from '../../support/kinds.ts';
import type { Ran, Vm } from './vm.ts';

const MOUNTS = '/run/test-mounts';

/** A program that writes continuously. */
export interface Writer {
  /**
   * Waits for its end: it ends with the VM or its volume.
   * @returns the last number that was synced
   */
  ended(): Promise<number>;
}

/** Uses volumes in the VM by their paths, as pods do. Data is on the disk when a call has ended. */
export const onNode = (vm: Vm) => ({
  async write(content: Content, path: string, data: string): Promise<void> {
    if (content === 'Block') {
      const to = [`of=${path}`, 'bs=4096', 'seek=100', 'conv=notrunc,fsync', 'status=none'];
      // Writes a whole block, without remainders of earlier data.
      await vm.run(['dd', ...to], { input: data.padEnd(4096, '\0') });
      return;
    }
    const write = 'mkdir -p "$1" && mount "$2" "$1" && cat >"$1/data" && umount "$1"';
    await vm.run(['sh', '-c', write, 'sh', MOUNTS, path], { input: data });
  },

  async read(content: Content, path: string): Promise<string> {
    if (content === 'Block') {
      const from = [`if=${path}`, 'bs=4096', 'skip=100', 'count=1', 'status=none'];
      return (await vm.run(['dd', ...from])).stdout.replaceAll('\0', '');
    }
    const read =
      'mkdir -p "$1" && mount "$2" "$1" && cat "$1/data"; got=$?; umount "$1"; exit $got';
    return (await vm.run(['sh', '-c', read, 'sh', MOUNTS, path])).stdout;
  },

  /** Mounts it, as for a pod, until the VM ends or the returned path is unmounted. */
  async mount(path: string, name: string): Promise<string> {
    await vm.run(['mkdir', '-p', `${MOUNTS}-${name}`]);
    await vm.run(['mount', path, `${MOUNTS}-${name}`]);
    return `${MOUNTS}-${name}`;
  },

  /** Appends numbers from 1 on to a file in a mounted directory, and prints each after its sync. */
  startWriter(folder: string): Writer {
    const ran: Promise<Ran> = vm.run(['sh', '-c', APPEND, 'sh', `${folder}/numbers`], {
      reject: false,
    });
    return {
      async ended() {
        const { stdout } = await ran;
        // The last line may be incomplete.
        return stdout.split('\n').length - 1;
      },
    };
  },

  /** Returns the count of numbers in the file, from 1 on without a gap. */
  async numbersOn(path: string): Promise<number> {
    const read = 'mkdir -p "$1" && mount "$2" "$1" && cat "$1/numbers"; umount "$1"';
    const { stdout } = await vm.run(['sh', '-c', read, 'sh', MOUNTS, path]);
    const numbers = stdout.split('\n').map(Number);
    const gap = numbers.findIndex((number, index) => number !== index + 1);
    return gap === -1 ? numbers.length : gap;
  },

  /** Waits in the VM until a path exists. */
  async appears(path: string): Promise<void> {
    const wait = 'until test -e "$1"; do sleep 0.2; done';
    await vm.run(['timeout', '600', 'sh', '-c', wait, 'sh', path]);
  },

  exists: async (path: string) =>
    (await vm.run(['test', '-e', path], { reject: false })).exitCode === 0,

  /** Returns files, records, jobs, links and loop devices of a Volume. */
  async tracesOf(uid: string): Promise<string[]> {
    const look = `find /var/lib/stowage /run/stowage /var/lib/metalk8s /dev/disk -name "*$1*" 2>/dev/null
losetup -n -O NAME,BACK-FILE | grep -F "$1"
true`;
    return (await vm.run(['sh', '-c', look, 'sh', uid])).stdout
      .split('\n')
      .filter((line) => line !== '');
  },
});

const APPEND = `rm -f "$1"
number=0
while :; do
  number=$((number + 1))
  echo "$number" >>"$1" && sync "$1" && echo "$number" || exit
  sleep 0.2
done`;
