import type { Precondition, Step } from '../../nodes/job.ts';
import type { Plan } from '../types.ts';
import type { VolumeGroup } from './facts.ts';
import { onlyDisks } from './view.ts';

const PROGRAMS = ['lvcreate', 'lvchange', 'lvextend', 'lvremove', 'lvrename', 'lvs', 'vgs'];
const WRITERS = ['lvcreate', 'lvchange', 'lvextend', 'lvremove', 'lvrename'];
/** Scripts that run LVM on a group's name. */
const SCRIPTS = ['stowage-thin', 'stowage-lvm-uuid'];

/**
 * Restricts each LVM command in a plan to the disks of the group, and flushes the disks after
 * changes. Commands name the group, and one on a Volume or on a foreign disk may share its name.
 */
export function inGroup(plan: Plan, { disks }: Pick<VolumeGroup, 'disks'>): Plan {
  if ('refusal' in plan) return plan;
  const config = onlyDisks(disks);
  const precondition = (each: Precondition): Precondition => ({
    ...each,
    argv: withConfig(each.argv, config),
  });
  const step = (each: Step): Step => ({
    ...each,
    argv: withConfig(each.argv, config),
    preconditions: each.preconditions.map(precondition),
  });
  const flush: Step = {
    name: 'flush the disks of the volume group',
    argv: ['sync', ...disks],
    preconditions: [],
  };
  return {
    ...plan,
    steps: plan.steps.flatMap((each) => [step(each), ...(changesGroup(each) ? [flush] : [])]),
  };
}

/**
 * Reports whether a step changes the group's metadata. LVM does not flush them: a power cut may
 * leave a part of them, and LVM does not find the group then.
 */
function changesGroup({ argv }: Step): boolean {
  const [program = '', ...words] = argv;
  if (program === 'sh') return SCRIPTS.includes(argv[3] ?? '');
  return (
    WRITERS.includes(program) && !words.some((word) => ['--activate', '--refresh'].includes(word))
  );
}

function withConfig(argv: readonly string[], config: string): readonly string[] {
  const [program = '', ...words] = argv;
  // A script's arguments follow its name and its text.
  if (program === 'sh' && SCRIPTS.includes(argv[3] ?? ''))
    return [...argv.slice(0, 5), config, ...argv.slice(5)];
  if (!PROGRAMS.includes(program)) return argv;
  // LVM accepts the option only once.
  const at = words.indexOf('--config');
  return at < 0
    ? [program, '--config', config, ...words]
    : [program, ...words.with(at + 1, `${words[at + 1]}${config}`)];
}
