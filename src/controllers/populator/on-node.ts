import { DRIVER, POPULATOR_EVENT } from '../../api/names.ts';
import { kindText, type PopulatorDefinition } from '../../api/populator.ts';
import { explain } from '../../api/reasons.ts';
import { emit } from './emit-event.ts';
import type { PopulatorDecision, PopulatorInput } from './types.ts';

/**
 * Decides about a claim whose volume is filled on its node. With a class of Stowage, the
 * provisioner fills the volume before a PersistentVolume exists. Volumes of other provisioners
 * cannot be filled this way. Pure.
 */
export function onNode(
  input: PopulatorInput,
  { metadata, spec }: PopulatorDefinition,
): PopulatorDecision {
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
