import type { ProbeResult } from '../../src/nodes/job.ts';
import type { BlockDevice, DeviceFacts, PrintedContent } from '../../src/storage/types.ts';

/** Change of a node between an observation and a step. */
export type Change =
  | {
      is:
        | 'nothing'
        | 'another device'
        | 'another disk'
        | 'content'
        | 'content of a partition'
        | 'data in a partition'
        | 'another partition'
        | 'data'
        | 'unreadable'
        | 'made'
        | 'claimed';
    }
  | {
      is: 'mounted' | 'mounted elsewhere' | 'stacked' | 'held' | 'swap' | 'open';
      of: Pick<BlockDevice, 'name' | 'device'>;
    };

const answer = (exit: number, stdout = ''): ProbeResult => ({ exit, stdout, stderr: '' });

/**
 * Returns a function that answers the commands of preconditions, as a node with this device after
 * `change`.
 */
export function preconditionAnswers(
  device: DeviceFacts,
  change: Change,
): (argv: readonly string[]) => ProbeResult {
  const { printed, presence, dmUuid, partition } = device;
  const own = `/dev/${device.name}`;
  const used = 'of' in change ? change.of : undefined;
  const isUsed = (is: Change['is'], name: string) => change.is === is && used?.name === name;

  const contentOf = (name: string): PrintedContent =>
    device.printedParts.find((each) => each.name === name) ?? printed;
  const isChanged = (name: string): boolean =>
    change.is === (name === device.name ? 'content' : 'content of a partition');

  return (argv) => {
    const line = argv.join(' ');
    const last = argv.at(-1) ?? '';
    const named = last.replace('/dev/', '');
    switch (argv[0]) {
      case 'test':
        return answer(change.is === 'made' ? 1 : 0);
      case 'true':
        return answer(0);
      case 'losetup':
        return answer(0, isUsed('stacked', named) ? '/dev/loop9: []' : '');
      case 'lsblk':
        if (!argv.includes('-d')) {
          return answer(0, `${printed.below}${change.is === 'another partition' ? '\nsdb9' : ''}`);
        }
        return answer(
          0,
          change.is === 'another device' ? `${printed.identity}x` : printed.identity,
        );
      case 'mkfs.ext4':
        return answer(change.is === 'claimed' && argv.includes(own) ? 1 : 0);
      case 'cmp':
        return answer(change.is === (argv.includes(own) ? 'data' : 'data in a partition') ? 1 : 0);
      case 'dd':
        return answer(change.is === 'unreadable' ? 1 : 0);
      case 'blkid':
        return blkid(line, named);
      case 'wipefs':
        if (line.includes('-J'))
          return answer(0, isChanged(named) ? '{}' : contentOf(named).wipefs);
        return answer(0, change.is === 'content' ? 'ext4' : '');
      case 'cat':
        return file(last);
      case 'find':
        return found(line, argv);
    }
    throw new Error(`no answer to ${line}`);
  };

  function blkid(line: string, name: string): ProbeResult {
    if (line.includes('PART_ENTRY_UUID')) return answer(0, partition?.uuid);
    if (line.includes('PART_ENTRY_NUMBER'))
      return answer(0, String(partition?.inTable ?? partition?.number));
    if (line.includes('-o export')) {
      return answer(
        contentOf(name).blkidExit,
        isChanged(name) ? 'TYPE=other' : contentOf(name).blkid,
      );
    }
    if (change.is === 'content') return answer(0, 'other');
    return answer(partition === undefined ? 2 : 0, '');
  }

  function file(path: string): ProbeResult {
    if (path === '/proc/swaps') {
      return answer(0, `Filename\n${change.is === 'swap' ? `/dev/${used?.name} partition` : ''}`);
    }
    if (path.endsWith('/diskseq')) {
      return answer(0, change.is === 'another disk' ? '999' : presence?.split('/')[1]);
    }
    return answer(0, change.is === 'another disk' ? 'LVM-other' : dmUuid);
  }

  function found(line: string, argv: readonly string[]): ProbeResult {
    if (line.includes('mountinfo')) {
      return answer(
        0,
        `1 2 0:5 / /proc rw\n${change.is === 'mounted' ? `9 9 ${used?.device} / /mnt rw` : ''}`,
      );
    }
    if (argv[1] === '/sys/fs') {
      const name = argv[argv.indexOf('-name') + 1] ?? '';
      return answer(
        0,
        isUsed('mounted elsewhere', name) ? `/sys/fs\n/sys/fs/ext4/${name}` : '/sys/fs',
      );
    }
    if (line.includes('/holders/')) {
      const name = line.split('/')[4] ?? '';
      return answer(0, isUsed('held', name) ? `/sys/class/block/${name}/holders/dm-9` : '');
    }
    const number = used?.device.split(':').map((part) => Number(part).toString(16));
    const open = change.is === 'open' ? `/block special file|${number?.join(':')}/` : '';
    if (argv[1] === '-L') return answer(0, `/character special file|1:3/${open}`);
    return answer(0, `//dev/null/${change.is === 'open' ? `//dev/${used?.name}/` : ''}`);
  }
}
