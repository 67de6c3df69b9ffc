import type { Row } from '../panel.ts';
import { increase, latest, percentiles, perSecond } from '../queries.ts';

const ENDED = 'volume_populator_operation_count';

export const CLAIMS: Row = {
  title: 'Claims and populators',
  panels: [
    {
      shows: 'areas',
      title: 'Claims by result',
      description:
        'Claims a second that were bound, and failed attempts. `stowage why pvc NAMESPACE/NAME` explains one.',
      width: 8,
      unit: 'ops',
      queries: [perSecond('stowage_claims_total', ['class', 'result'])],
    },
    {
      shows: 'lines',
      title: 'Failed attempts within 30 minutes',
      description:
        'Claims that get no volume, by the kind of their source: no room, or a wrong class or source. Run `stowage why pvc NAMESPACE/NAME`.',
      alerts: ['StowageClaimsFail'],
      width: 8,
      unit: 'none',
      limit: 5,
      queries: [increase('stowage_claims_total', '30m', ['class', 'source'], 'result="failed"')],
    },
    {
      shows: 'lines',
      title: 'Time until claims are bound',
      description:
        'Time from the creation of the Volume of a claim until the claim is bound. Copies are slow if the file system cannot clone files: docs/snapshots.md. The line is the limit for a tenth of the claims.',
      alerts: ['StowageClaimsSlow'],
      width: 8,
      unit: 's',
      limit: 300,
      queries: percentiles('stowage_claim_seconds', ['class', 'source']),
    },
    {
      shows: 'lines',
      title: 'Sources in other namespaces',
      description:
        'Claims a second whose source is in another namespace. If all fail, a grant was removed, or the feature gate is off: docs/grants.md.',
      alerts: ['StowageCrossNamespaceFails'],
      width: 8,
      unit: 'ops',
      queries: [
        {
          ...perSecond('cross_namespace_persistentvolumeclaim_provision_total', ['storage_class']),
          legend: '{{storage_class}} bound',
        },
        {
          ...perSecond('cross_namespace_persistentvolumeclaim_provision_failed_total', [
            'storage_class',
          ]),
          legend: '{{storage_class}} failed',
        },
      ],
    },
    {
      shows: 'areas',
      title: 'Validated data sources',
      description:
        'Data sources of claims a second, by kind: `populator` has a VolumePopulator, `invalid` has none.',
      width: 8,
      unit: 'ops',
      queries: [perSecond('volume_data_source_validator_operation_count', ['result'])],
    },
    {
      shows: 'lines',
      title: 'Unknown data sources within an hour',
      description:
        'Claims that name kinds without a VolumePopulator. They have the event `UnrecognizedDataSourceKind`; `stowage get populators` lists the known kinds.',
      alerts: ['StowageUnknownDataSources'],
      width: 8,
      unit: 'none',
      limit: 1,
      queries: [
        increase(
          'volume_data_source_validator_operation_count',
          '1h',
          ['result'],
          'result="invalid"',
        ),
      ],
    },
    {
      shows: 'areas',
      title: 'Volumes being populated',
      description:
        'Volumes that pods or their nodes populate. Pending ones wait for a pod, a job or their source.',
      width: 8,
      unit: 'none',
      queries: [latest('stowage_populations_in_flight', ['phase'])],
    },
    {
      shows: 'number',
      title: 'Pending for half an hour',
      description:
        'Fewest Pending populations of the last half hour. `kubectl -n stowage describe pods` shows a missing image, room or quota; for nodes, run `stowage why volume NAME`.',
      alerts: ['StowagePopulationsWait'],
      width: 4,
      unit: 'none',
      limit: 1,
      queries: [
        {
          expr: 'max(min_over_time(stowage_populations_in_flight{job=~"$job",phase="Pending"}[30m]))',
          legend: '',
        },
      ],
    },
    {
      shows: 'lines',
      title: 'Bytes being populated',
      description:
        'Sizes of the volumes being populated. If they stay while nothing is finished, check the logs: `kubectl -n stowage get pods`.',
      alerts: ['StowagePopulationsStall'],
      width: 6,
      unit: 'bytes',
      queries: [latest('stowage_populations_in_flight_bytes', ['phase'])],
    },
    {
      shows: 'lines',
      title: 'Populated bytes a second',
      description: 'Sizes of the volumes that were populated. A volume counts once it is complete.',
      alerts: ['StowagePopulationsStall'],
      width: 6,
      unit: 'Bps',
      queries: [perSecond('stowage_populated_bytes_total', ['class'])],
    },
    {
      shows: 'areas',
      title: 'Ended populations',
      description:
        'Pods and jobs a second that populated a volume, or failed. The claim has an event with the end of the log.',
      width: 8,
      unit: 'ops',
      queries: [perSecond(ENDED, ['result'])],
    },
    {
      shows: 'lines',
      title: 'Failed populations within 30 minutes',
      description:
        'The claim has the event `PopulatorFailed`, or `ProvisioningFailed`: docs/populator-failures.md.',
      alerts: ['StowagePopulationsFail'],
      width: 8,
      unit: 'none',
      limit: 3,
      queries: [{ ...increase(ENDED, '30m', ['result'], 'result="error"') }],
    },
    {
      shows: 'lines',
      title: 'Time until volumes are populated',
      description:
        'Time from the creation of the pod or Volume until the volume is complete. A slow source or large volumes need longer. The line is the limit for a tenth of the volumes.',
      alerts: ['StowagePopulationsSlow'],
      width: 8,
      unit: 's',
      limit: 3600,
      queries: percentiles('volume_populator_operation_seconds', [], 'result="success"'),
    },
  ],
};
