import { BUILTIN_KINDS } from '../../api/builtins/table.ts';
import type { PersistentVolumeClaim } from '../../api/core.ts';
import type { KubeObject, Resource } from '../../api/meta.ts';
import { kindText, type PopulatorDefinition } from '../../api/populator.ts';
import { type Refused, refuse } from '../../api/reasons.ts';
import type { PopulatorSource } from '../../api/volume.ts';
import type { DataSource, SourceGates } from './data-source.ts';
import { deniedBy, gateOff, type SourceReads } from './resolve.ts';
import type { Awaited, Held } from './types.ts';

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
  /** All data needed to fill a volume, even if the objects are deleted meanwhile. */
  | { ready: { populator: PopulatorSource; uid: string } }
  /** Nothing fills volumes from that kind on their node. `on`: objects that may change that. */
  | { none: true; on: readonly Awaited[] }
  | Held;

/**
 * Returns the source that fills a claim's volume on its node, if its kind is registered for that. A
 * source in another namespace needs a grant before anything is read there. Throws errors of the
 * reads.
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
    return wait(refuse('DefinitionsCompete', { kind: what, definitions: names }), on);
  }
  const builtin = definition.spec.node?.builtin;
  const kind = builtin && BUILTIN_KINDS[builtin];
  if (builtin === undefined || kind === undefined) {
    const { name: definitionName } = definition.metadata;
    return wait(
      refuse('BuiltinUnknown', { definition: definitionName, builtin: `${builtin}` }),
      on,
    );
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
  const awaited: Awaited[] = [...on, { kind: 'PopulatorSource', namespace, name }];
  const whole = { kind: objectKind, source: `${namespace}/${name}` };
  const answer = await read.object(resource, namespace, name);
  if ('missing' in answer) {
    const named = { group, version, definition: definition.metadata.name };
    return wait(refuse('KindNotServed', { plural, ...named }), awaited);
  }
  if ('forbidden' in answer) {
    return wait(refuse('KindForbidden', { plural, group, kind: what }), awaited);
  }
  const object = answer.found;
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) {
    const code = object === undefined ? 'SourceMissing' : 'SourceBeingDeleted';
    return wait(refuse(code, whole), awaited);
  }
  const parsed = kind.optionsOf(object);
  if ('problem' in parsed) {
    const refused = refuse('SourceUnusable', whole);
    return wait({ ...refused, refusal: `${refused.refusal}: ${parsed.problem}` }, awaited);
  }
  const { volumeMode = 'Filesystem' } = claim.spec;
  const { mode = volumeMode } = parsed.options;
  if (mode !== volumeMode) {
    return wait(refuse('SourceOfOtherMode', { ...whole, mode, asked: volumeMode }), awaited);
  }
  const populator = { builtin, namespace, name, options: { ...parsed.options } };
  return { ready: { populator, uid: object.metadata.uid ?? '' } };
}

const wait = (refused: Refused, on: Awaited[]): Held => ({ wait: { ...refused, on } });
