import type { Guard, Step } from '../../nodes/job.ts';
import type { Plan } from '../types.ts';
import type { VolumeGroup } from './facts.ts';
import { onlyDisks } from './view.ts';

const PROGRAMS = ['lvcreate', 'lvchange', 'lvextend', 'lvremove', 'lvrename', 'lvs', 'vgs'];
/** Scripts of LVM that get a group's name. */
const SCRIPTS = ['stowage-thin', 'stowage-lvm-uuid'];

/**
 * Has each command of LVM in a plan see no other disks than those of the group. It is named in them, and a group that somebody
 * made on a Volume, or that came with another disk, may have the same name.
 */
export function inGroup(plan: Plan, { disks }: Pick<VolumeGroup, 'disks'>): Plan {
  if ('refusal' in plan) return plan;
  const config = onlyDisks(disks);
  const guard = (each: Guard): Guard => ({ ...each, argv: withConfig(each.argv, config) });
  const step = (each: Step): Step => ({
    ...each,
    argv: withConfig(each.argv, config),
    guards: each.guards.map(guard),
  });
  return { ...plan, steps: plan.steps.map(step) };
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
