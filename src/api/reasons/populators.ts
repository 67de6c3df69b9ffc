import type { ReasonEntry } from './types.ts';

/** Volumes that pods or nodes fill from a claim's data source. */
export const POPULATORS = {
  DataSourceUnrecognized: {
    message: 'The datasource for this PVC does not match any registered VolumePopulator',
    cause: 'KindNotRegistered',
  },
  DefinitionMissing: {
    message: 'no PopulatorDefinition says any more how volumes are filled from {kind}',
  },
  DefinitionsCompete: {
    message: 'more than one PopulatorDefinition is for {kind}: {definitions}',
    action: 'Delete all but one',
  },
  DefinitionInvalid: {
    message: 'PopulatorDefinition {definition} says what no volume can be filled by',
  },
  BuiltinUnknown: {
    message:
      'PopulatorDefinition {definition} names the built-in {builtin}, which this version of stowage does not have',
  },
  KindNotServed: {
    message:
      'the API server serves no {plural} in {group}/{version}, which PopulatorDefinition {definition} names',
  },
  KindForbidden: {
    message:
      'the daemon may not read {plural} of group {group}: have an administrator run stowage register populator for {kind}',
  },
  SourceNotNamespaced: {
    message: '{kind} {source} is in no namespace, and the claim names namespace {namespace}',
    cause: 'SourceRefused',
  },
  PopulatorGateOff: {
    message:
      '{kind} {source} is in another namespace than {namespace}, which this daemon does not follow',
    action: 'Switch the gate CrossNamespaceVolumeDataSource of stowage watch on',
    cause: 'GateOff',
  },
  SourceUnusable: {
    message: '{kind} {source} cannot be used',
    cause: 'SourceRefused',
  },
  SourceOfOtherMode: {
    message: '{kind} {source} is for a claim of mode {mode}, and this one has {asked}',
    cause: 'SourceRefused',
  },
  PopulatedClassOfOthers: {
    message:
      'PopulatorDefinition {definition} fills volumes from {kind} on their node, which can be done for storage classes of provisioner volume.stowage.dev alone, and class {class} is of {provisioner}',
    action: 'Use another class, or register a pod for the kind',
  },
  PopulatedClassNotNamed: {
    message: 'the claim names no storage class, and no default class was there when it was made',
  },
  PopulatedClassMissing: {
    message: 'StorageClass {class} does not exist',
  },
  PopulatedClassStatic: {
    message:
      'StorageClass {class} is for volumes made by hand, to any of which the claim may be bound as it is',
    action: 'Make it anew in a class whose claims make their own volumes',
  },
  PopulationNameTaken: {
    message: 'a {kind} {object} is there that was not made for this',
    action: 'Delete it',
  },
  PrimeRefused: {
    message:
      'claim {claim}, which is to be filled for this one, is refused: {said}. It is tried again',
    varies: ['said'],
  },
  PrimeUnbound: {
    message: 'no volume is made for claim {claim} yet: {said}',
    varies: ['said'],
  },
  NodeGivenBack: {
    message:
      'node {node} was given back by whoever makes volumes of class {class}. The scheduler is to choose another node for the claim',
  },
  FieldUnusable: {
    message: '{kind} {source} cannot be used by PopulatorDefinition {definition}',
  },
  PlacesTaken: {
    message: '{max} pods fill volumes already: the claim waits for one of them to end',
  },
  NamespacePlacesTaken: {
    message:
      '{own} pods fill volumes of this namespace already, which leaves the other places to others: the claim waits for one of them to end',
    varies: ['own'],
  },
  PodCreated: {
    message: 'pod {pod} fills the volume',
  },
  PodRefused: {
    message: 'pod {pod}, which is to fill the volume, is refused: {said}. It is tried again',
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
      'pod {pod}, which does not run, is made anew: its data source or PopulatorDefinition was changed',
  },
  PodFailed: {
    message: 'pod {pod} failed, the {failed}. of {max}: {said}',
  },
  PodsGivenUp: {
    message:
      '{failed} pods have failed, and no more are made before the data source or its PopulatorDefinition is changed. The last: {said}',
  },
  RebindRefused: {
    message: 'to give PersistentVolume {volume} to the claim is refused: {said}. It is tried again',
    varies: ['said'],
  },
  PopulationStepRefused: {
    message: 'what comes next for it ({step}) is refused: {said}. It is tried again',
    varies: ['said'],
  },
  VolumeFilled: {
    message: 'the claim has its volume {volume}, filled from its data source',
  },
  SourceIgnored: {
    message:
      'the claim was bound to PersistentVolume {volume}, which was not filled from {kind} {source}: the provisioner of StorageClass {class} ignores data sources',
    action: 'Delete claim {claim}, and create it again in another class',
  },
} as const satisfies Record<string, ReasonEntry>;
