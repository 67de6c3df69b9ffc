import type { ReasonEntry } from './types.ts';

/** Volumes that pods or nodes fill from a claim's data source. */
export const POPULATORS = {
  DataSourceUnrecognized: {
    message: 'The datasource for this PVC does not match any registered VolumePopulator',
    cause: 'KindNotRegistered',
  },
  DefinitionMissing: {
    message: 'the PopulatorDefinition for {kind} no longer exists',
  },
  DefinitionsCompete: {
    message: 'more than one PopulatorDefinition is for {kind}: {definitions}',
    action: 'Delete all but one',
  },
  DefinitionInvalid: {
    message: 'PopulatorDefinition {definition} is invalid',
  },
  BuiltinUnknown: {
    message:
      'PopulatorDefinition {definition} names built-in {builtin}, which this version of Stowage does not have',
  },
  KindNotServed: {
    message:
      'PopulatorDefinition {definition} names {plural} in {group}/{version}, which the API server does not serve',
  },
  KindForbidden: {
    message:
      'the daemon may not read {plural} of group {group}: ask an administrator to run stowage register populator for {kind}',
  },
  SourceNotNamespaced: {
    message: '{kind} {source} is cluster-scoped, and the claim names namespace {namespace}',
    cause: 'SourceRefused',
  },
  PopulatorGateOff: {
    message:
      '{kind} {source} is in another namespace than {namespace}, which this daemon does not allow',
    action: 'Enable feature gate CrossNamespaceVolumeDataSource of stowage watch',
    cause: 'GateOff',
  },
  SourceUnusable: {
    message: '{kind} {source} cannot be used',
    cause: 'SourceRefused',
  },
  SourceOfOtherMode: {
    message: '{kind} {source} needs a claim of volume mode {mode}, and this claim has {asked}',
    cause: 'SourceRefused',
  },
  PopulatedClassOfOthers: {
    message:
      'PopulatorDefinition {definition} fills volumes from {kind} on their node, and storage class {class} has provisioner {provisioner}, not volume.stowage.dev',
    action: 'Use another class, or register a pod for the kind',
  },
  PopulatedClassNotNamed: {
    message: 'the claim has no storage class, and no default class existed when it was created',
  },
  PopulatedClassMissing: {
    message: 'StorageClass {class} does not exist',
  },
  PopulatedClassStatic: {
    message:
      'StorageClass {class} has no provisioner: the claim may be bound to any existing volume without being filled',
    action: 'Create the claim again with a class that provisions volumes',
  },
  PopulationNameTaken: {
    message: '{kind} {object} exists, and was not created for this claim',
    action: 'Delete it',
  },
  PrimeRefused: {
    message: 'prime claim {claim} could not be created: {said}. Stowage retries',
    varies: ['said'],
  },
  PrimeUnbound: {
    message: 'prime claim {claim} has no volume yet: {said}',
    varies: ['said'],
  },
  NodeGivenBack: {
    message:
      'the provisioner of class {class} rejected node {node}. The scheduler must choose another node for the claim',
  },
  FieldUnusable: {
    message: '{kind} {source} cannot be used by PopulatorDefinition {definition}',
  },
  PlacesTaken: {
    message: '{max} pods already fill volumes: the claim waits until one of them ends',
  },
  NamespacePlacesTaken: {
    message:
      '{own} pods already fill volumes of this namespace, and the other places are reserved for other namespaces: the claim waits until one of them ends',
    varies: ['own'],
  },
  PodCreated: {
    message: 'pod {pod} fills the volume',
  },
  PodRefused: {
    message: 'populator pod {pod} could not be created: {said}. Stowage retries',
    varies: ['said'],
  },
  ImageRefused: {
    message: 'pod {pod} does not run[: {state}][: {said}]',
    varies: ['state', 'said'],
  },
  PodUnscheduled: {
    message: 'pod {pod} does not run[: {state}][: {said}]',
    varies: ['said'],
  },
  PodNotStarted: {
    message: 'pod {pod} does not run[: {state}][: {said}]',
    varies: ['said'],
  },
  PodRunning: {
    message: 'pod {pod} runs',
  },
  PodOutdated: {
    message:
      'pod {pod} has not started, and is created again: its data source, PopulatorDefinition or tolerations changed',
  },
  PodFailed: {
    message: 'pod {pod} failed (attempt {failed} of {max}): {said}',
  },
  PodsGivenUp: {
    message:
      '{failed} pods failed. Stowage retries when the data source or its PopulatorDefinition changes. Last failure: {said}',
  },
  RebindRefused: {
    message: 'PersistentVolume {volume} could not be bound to the claim: {said}. Stowage retries',
    varies: ['said'],
  },
  PopulationStepRefused: {
    message: 'population step {step} was refused: {said}. Stowage retries',
    varies: ['said'],
  },
  VolumeFilled: {
    message: 'volume {volume} is filled from the data source, and bound to the claim',
  },
  SourceIgnored: {
    message:
      'the claim was bound to PersistentVolume {volume}, which was not filled from {kind} {source}: the provisioner of StorageClass {class} ignores data sources',
    action: 'Delete claim {claim}, then create it again with another class',
  },
} as const satisfies Record<string, ReasonEntry>;
