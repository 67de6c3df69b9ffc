import { DRIVER, POPULATOR_EVENT } from '../../api/names.ts';
import { kindText, type PopulatorDefinition } from '../../api/populator.ts';
import { explain } from '../../api/reasons.ts';
import { emit } from './emit-event.ts';
import type { MachineDecision, MachineInput } from './types.ts';

/**
 * What is done for a claim whose volume is filled on its node: nothing here, for whoever makes the volumes of Stowage's classes does
 * that before they are shown. Volumes of others cannot be filled so. Pure.
 */
export function onNode(
  input: MachineInput,
  { metadata, spec }: PopulatorDefinition,
): MachineDecision {
  const { claim, storageClass } = input;
  if (storageClass === undefined || storageClass.provisioner === DRIVER) return {};
  const others = explain('PopulatedClassOfOthers', {
    definition: metadata.name,
    kind: kindText(spec.sourceKind),
    class: `${claim?.spec.storageClassName}`,
    provisioner: storageClass.provisioner,
  });
  return emit(input, 'Warning', POPULATOR_EVENT.creationFailed, others);
}
