import type { Precondition, Step } from '../../nodes/job.ts';
import type { Plan } from '../types.ts';
import type { VolumeGroup } from './facts.ts';
import { onlyDisks } from './view.ts';

const PROGRAMS = ['lvcreate', 'lvchange', 'lvextend', 'lvremove', 'lvrename', 'lvs', 'vgs'];
const WRITERS = ['lvcreate', 'lvchange', 'lvextend', 'lvremove', 'lvrename'];
/** Scripts of LVM that get a group's name. */
const SCRIPTS = ['stowage-thin', 'stowage-lvm-uuid'];

/**
 * Has each command of LVM in a plan see no other disks than those of the group, and the disks keep what it changes. The group is named in
 * these commands, and one that somebody made on a Volume, or that came with another disk, may have the same name.
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
    name: 'have the disks of the group keep it',
    argv: ['sync', ...disks],
    preconditions: [],
  };
  return {
    ...plan,
    steps: plan.steps.flatMap((each) => [step(each), ...(changesGroup(each) ? [flush] : [])]),
  };
}

/** LVM does not have disks flush what it writes to them: after a power cut they may have half of it, and the group is not found. */
function changesGroup({ argv }: Step): boolean {
  const [program = '', ...words] = argv;
  if (program === 'sh') return SCRIPTS.includes(argv[3] ?? '');
  return (
    WRITERS.includes(program) && !words.some((word) => ['--activate', '--refresh'].includes(word))
  );
}

function withConfig(argv: readonly string[], config: string): readonly string[] {
  const [program = '', ...words] = argv;
  // The arguments of a script come after its name and its text.
  if (program === 'sh' && SCRIPTS.includes(argv[3] ?? ''))
    return [...argv.slice(0, 5), config, ...argv.slice(5)];
  if (!PROGRAMS.includes(program)) return argv;
  // LVM takes the option once.
  const at = words.indexOf('--config');
  return at < 0
    ? [program, '--config', config, ...words]
    : [program, ...words.with(at + 1, `${words[at + 1]}${config}`)];
}
