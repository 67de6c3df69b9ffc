import { BUILTIN_KINDS } from '../../api/builtins/table.ts';
import type { PersistentVolumeClaim } from '../../api/core.ts';
import type { KubeObject, Resource } from '../../api/meta.ts';
import { kindText, type PopulatorDefinition } from '../../api/populator.ts';
import type { PopulatorSource } from '../../api/volume.ts';
import type { DataSource, SourceGates } from './data-source.ts';
import { deniedBy, gateOff, type SourceReads } from './resolve.ts';
import type { Awaited, Held } from './types.ts';

/** Live reads of what volumes are filled from. */
export interface BuiltinReads extends Pick<SourceReads, 'grants'> {
  definitions(): Promise<readonly PopulatorDefinition[]>;
  /** `missing`: the API server serves no such kind; `forbidden`: the daemon may not read it. */
  object(
    resource: Resource,
    namespace: string,
    name: string,
  ): Promise<{ found: KubeObject | undefined } | { missing: true } | { forbidden: true }>;
}

type Other = Extract<DataSource, { kind: 'other' }>;

export type BuiltinFound =
  /** All that is needed to fill a volume, whatever is gone by then. */
  | { ready: { populator: PopulatorSource; uid: string } }
  /** Nothing fills volumes from that kind on their node. `on`: what may change that. */
  | { none: true; on: readonly Awaited[] }
  | Held;

/**
 * What a claim is filled from on its node, if its kind is registered for that. Of what is in another namespace a grant is looked for
 * before anything is read there. What the reads throw is thrown.
 */
export async function resolveBuiltin(
  claim: PersistentVolumeClaim,
  { group, objectKind, namespace, name }: Other,
  gate: SourceGates,
  read: BuiltinReads,
): Promise<BuiltinFound> {
  const on: Awaited[] = [{ kind: 'PopulatorDefinition' }];
  const definitions = (await read.definitions()).filter(
    ({ metadata, spec: { sourceKind } }) =>
      metadata.deletionTimestamp === undefined &&
      sourceKind.group === group &&
      sourceKind.kind === objectKind,
  );
  const [definition, ...others] = definitions;
  if (definition === undefined || definitions.every(({ spec }) => spec.node === undefined)) {
    return { none: true, on };
  }
  const what = kindText({ group, kind: objectKind });
  if (others.length > 0) {
    const names = definitions.map(({ metadata }) => metadata.name).join(', ');
    return notNow(
      `more than one PopulatorDefinition is for ${what}: ${names}. Delete all but one`,
      on,
    );
  }
  const builtin = definition.spec.node?.builtin;
  const kind = builtin && BUILTIN_KINDS[builtin];
  if (builtin === undefined || kind === undefined) {
    const message = `PopulatorDefinition ${definition.metadata.name} names the built-in ${builtin}, which this version of stowage does not have`;
    return notNow(message, on);
  }
  const own = claim.metadata.namespace ?? '';
  const isElsewhere = namespace !== own;
  if (isElsewhere && !gate.crossNamespace) {
    return { wait: gateOff({ kind: 'gate-off', objectKind, namespace, name }, claim) };
  }
  const from = { group: '', kind: 'PersistentVolumeClaim', namespace: own };
  const denied = await deniedBy(claim, from, { group, kind: objectKind, namespace, name }, read);
  if (denied !== undefined) return denied;
  const { version, plural } = definition.spec.resource;
  const resource = { group, version, plural, kind: objectKind, namespaced: true };
  const source: Awaited[] = [...on, { kind: 'PopulatorSource', namespace, name }];
  const answer = await read.object(resource, namespace, name);
  if ('missing' in answer) {
    const message = `the API server serves no ${plural} in ${group}/${version}, which PopulatorDefinition ${definition.metadata.name} names`;
    return notNow(message, source);
  }
  if ('forbidden' in answer) {
    const message = `the daemon may not read ${plural} of group ${group}: have an administrator run stowage register populator for ${what}`;
    return notNow(message, source);
  }
  const object = answer.found;
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) {
    const message = `${objectKind} ${namespace}/${name} ${object === undefined ? 'does not exist' : 'is being deleted'}`;
    return { wait: { reason: 'NotFound', message, on: source } };
  }
  const said = kind.optionsOf(object);
  if ('problem' in said) {
    const message = `${objectKind} ${namespace}/${name} cannot be used: ${said.problem}`;
    return { wait: { reason: 'Unusable', message, on: source } };
  }
  const { volumeMode = 'Filesystem' } = claim.spec;
  const { mode = volumeMode } = said.options;
  if (mode !== volumeMode) {
    const message = `${objectKind} ${namespace}/${name} is for a claim of mode ${mode}, and this one has ${volumeMode}`;
    return { wait: { reason: 'Unusable', message, on: source } };
  }
  const populator = { builtin, namespace, name, options: { ...said.options } };
  return { ready: { populator, uid: object.metadata.uid ?? '' } };
}

const notNow = (message: string, on: Awaited[]): Held => ({
  wait: { reason: 'NotRegistered', message, on },
});
