import type { PersistentVolume, PersistentVolumeClaim } from '../../../api/core.ts';
import { phaseOf } from '../../../api/phase.ts';
import { parseQuantity } from '../../../api/quantity.ts';
import { VOLUMES } from '../../../api/resources.ts';
import { commandLine } from '../../lib/command-line.ts';
import { foundIn } from '../../lib/read-result.ts';
import type { Supply } from '../claim/facts.ts';
import { released } from '../released.ts';
import type { Fix } from '../types.ts';

/**
 * Returns why a claim of a class without a provisioner is unbound, and the fix.
 * @param isName whether the class does not exist: a Volume needs one
 */
export function reasonOf(
  claim: PersistentVolumeClaim,
  supply: Supply | undefined,
  isName = false,
): { why: string; fix: Fix } {
  const { namespace = '', name } = claim.metadata;
  const {
    volumeName,
    storageClassName = '',
    volumeMode: mode = 'Filesystem',
    accessModes = [],
  } = claim.spec;
  const checkEvents: Fix = {
    say: 'Check the events of the claim.',
    run: [commandLine('kubectl', 'describe', 'pvc', name, '-n', namespace)],
  };
  if (claim.status?.phase === 'Lost')
    return { why: `its PersistentVolume ${volumeName} is gone`, fix: checkEvents };
  if (volumeName !== undefined) {
    const pv = namedPv(volumeName, supply);
    const isOwn = pv !== undefined && wasOf(pv, claim);
    return {
      why: named(volumeName, claim, supply),
      fix: (isOwn ? released(pv)?.fix : undefined) ?? checkEvents,
    };
  }
  const all = supply && foundIn(supply.pvs);
  if (all === undefined) return { why: 'no PersistentVolume is bound to it', fix: checkEvents };
  const size = claim.spec.resources?.requests?.storage ?? '0';
  const [beyond] = accessModes.filter((mode) => mode !== DEFAULT_ACCESS_MODE);
  const more: Fix = {
    say: `Create a volume for it, on a node where the pod can run.`,
    run: [
      ...(isName
        ? [commandLine('stowage', 'create', 'storageclass', storageClassName, '--static')]
        : []),
      `stowage create volume NAME --node NODE --type sparse ${commandLine('--size', size, '--storage-class', storageClassName)}${mode === 'Block' ? ' --mode Block' : ''}`,
    ],
  };
  const kind =
    storageClassName === '' ? 'without a storage class' : `of storage class ${storageClassName}`;
  const ofClass = all.filter(({ spec }) => (spec.storageClassName ?? '') === storageClassName);
  // A Volume of the class that failed, or is being provisioned, may be the intended one.
  const making = (foundIn(supply?.volumes ?? { absent: true }) ?? []).find(
    (volume) =>
      volume.spec.storageClassName === storageClassName &&
      phaseOf(volume) !== 'Available' &&
      !ofClass.some(({ metadata }) => metadata.name === volume.metadata.name),
  );
  const fix: Fix =
    making === undefined
      ? more
      : {
          say: `Find out why the Volume ${making.metadata.name} of that class is ${phaseOf(making) ?? 'Unknown'}.`,
          run: [commandLine('stowage', 'why', 'volume', making.metadata.name)],
        };
  if (beyond !== undefined && !ofClass.some((pv) => allows(pv, accessModes))) {
    return {
      why: `no PersistentVolume ${kind} allows ${accessModes.join(', ')}`,
      fix: {
        say: `Create the claim again with the access mode ${DEFAULT_ACCESS_MODE}, which Volumes created by hand have: a device is written from one node. To read one on several nodes, see docs/shared-directories.md.`,
      },
    };
  }
  if (storageClassName === '') {
    return {
      why: 'it requests a PersistentVolume without a storage class, and all those of Stowage have one',
      fix: {
        say: 'Create the claim again with the storage class of a Volume.',
        run: ['stowage get volumes'],
      },
    };
  }
  if (ofClass.length === 0) return { why: `there is no PersistentVolume ${kind}`, fix };
  const free = ofClass.filter(({ status }) => status?.phase === 'Available');
  if (free.length === 0) {
    const why = `no PersistentVolume ${kind} is free (total: ${ofClass.length})`;
    const kept = keptOf(
      claim,
      ofClass.filter(
        (pv) =>
          (pv.spec.volumeMode ?? 'Filesystem') === mode &&
          bytesOf(pv) >= bytes(size) &&
          allows(pv, accessModes),
      ),
    );
    return kept === undefined ? { why, fix } : { why: `${why}: ${kept.why}`, fix: kept.fix(fix) };
  }
  const ofMode = free.filter(({ spec }) => (spec.volumeMode ?? 'Filesystem') === mode);
  if (ofMode.length === 0)
    return { why: `no free PersistentVolume ${kind} has the volume mode ${mode}`, fix };
  const large = ofMode.filter((pv) => bytesOf(pv) >= bytes(size));
  if (large.length === 0) {
    const [largest] = ofMode.toSorted((a, b) => Number(bytesOf(b) - bytesOf(a)));
    return {
      why: `it requests ${size}, and the largest free PersistentVolume ${kind} has ${largest?.spec.capacity.storage}`,
      fix,
    };
  }
  const fitting = large.filter((pv) => allows(pv, accessModes));
  if (fitting.length === 0) {
    return {
      why: `no free PersistentVolume ${kind} allows ${accessModes.join(', ')}`,
      fix: {
        say: `Create the claim again with the access mode ${large[0]?.spec.accessModes.join(', ')}.`,
      },
    };
  }
  const names = fitting.slice(0, 3).map(({ metadata }) => metadata.name);
  return {
    why: `it is not bound yet, although a PersistentVolume fits (${names.join(', ')})`,
    fix: checkEvents,
  };
}

/**
 * Returns why a claim that names its PersistentVolume is unbound: that one is missing, bound to
 * another claim, or not bound yet.
 */
function named(
  volumeName: string,
  { metadata }: PersistentVolumeClaim,
  supply: Supply | undefined,
): string {
  const pv = namedPv(volumeName, supply);
  if (supply !== undefined && 'found' in supply.pvs && pv === undefined) {
    return `it names the PersistentVolume ${volumeName}, which does not exist`;
  }
  const kept = pv && released(pv);
  if (kept !== undefined) return `it names the PersistentVolume ${volumeName}: ${kept.why}`;
  const { claimRef } = pv?.spec ?? {};
  const isOthers =
    claimRef !== undefined &&
    (claimRef.namespace !== metadata.namespace ||
      claimRef.name !== metadata.name ||
      ![undefined, metadata.uid].includes(claimRef.uid));
  return `it names the PersistentVolume ${volumeName}, which is ${isOthers ? `bound to another claim: ${claimRef.namespace}/${claimRef.name}` : 'not bound to it yet'}`;
}

const namedPv = (name: string, supply: Supply | undefined): PersistentVolume | undefined =>
  supply && foundIn(supply.pvs)?.find(({ metadata }) => metadata.name === name);

/** Reports whether a PersistentVolume keeps the data of an earlier claim of the same name. */
const wasOf = ({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean =>
  spec.claimRef?.namespace === metadata.namespace && spec.claimRef?.name === metadata.name;

/**
 * Returns a Released PersistentVolume that fits a claim, first that of an earlier claim of the same
 * name, and the fix. The data of another claim is only an alternative to the fix `otherwise`.
 */
function keptOf(
  claim: PersistentVolumeClaim,
  fitting: readonly PersistentVolume[],
): { why: string; fix: (otherwise: Fix) => Fix } | undefined {
  const all = fitting.flatMap((pv) => {
    const kept = released(pv);
    return kept === undefined ? [] : [{ ...kept, pv }];
  });
  const own = all.find(({ pv }) => wasOf(pv, claim));
  if (own !== undefined) return { why: own.why, fix: () => own.fix };
  const [other] = all;
  if (other === undefined) return undefined;
  const { name, ownerReferences = [] } = other.pv.metadata;
  const isVolume = ownerReferences.some(({ kind }) => kind === VOLUMES.kind);
  const how = isVolume ? `: ${commandLine('stowage', 'why', 'volume', name)}` : '.';
  return {
    why: other.why,
    fix: ({ say, ...otherwise }) => ({
      ...otherwise,
      say: `${say} If this claim may get that data, clear the claimRef of ${name} instead${how}`,
    }),
  };
}

/** Access mode of a Volume whose template sets none. */
const DEFAULT_ACCESS_MODE = 'ReadWriteOnce';

const allows = ({ spec }: PersistentVolume, modes: readonly string[]): boolean =>
  modes.every((mode) => spec.accessModes.includes(mode));

const bytesOf = ({ spec }: PersistentVolume): bigint => bytes(spec.capacity.storage);

/** Returns a quantity in bytes; 0 if it is malformed. */
function bytes(quantity: string): bigint {
  try {
    return parseQuantity(quantity);
  } catch {
    return 0n;
  }
}
