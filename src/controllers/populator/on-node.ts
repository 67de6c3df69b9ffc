import { DRIVER, POPULATOR_EVENT } from '../../api/names.ts';
import { kindText, type PopulatorDefinition } from '../../api/populator.ts';
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
  const message = `PopulatorDefinition ${metadata.name} fills volumes from ${kindText(spec.sourceKind)} on their node, which can be done for storage classes of provisioner ${DRIVER} alone, and class ${claim?.spec.storageClassName} is of ${storageClass.provisioner}. Use another class, or register a pod for the kind`;
  return emit(input, 'Warning', POPULATOR_EVENT.creationFailed, message);
}
