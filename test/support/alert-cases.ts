/**
 * Series for promtool's unit tests, with one value a minute: some that fire an alert, and some that
 * do not.
 */
export interface AlertCase {
  alert: string;
  /** Values by series. */
  fires: Record<string, string>;
  rests: Record<string, string>;
}

/** Returns a constant series of three hours. */
const stays = (value: number): string => `${value}+0x180`;
const grows = (by: number): string => `0+${by}x180`;

/**
 * Returns the buckets of a histogram with `count` observations a minute, all in the bucket `le`.
 */
const observed = (name: string, labels: string, le: number, count = 10): Record<string, string> =>
  Object.fromEntries(
    [0.1, 0.5, 1, 2.5, 10, 30, 60, 300, 600, 1800, 7200, Number.POSITIVE_INFINITY].map((bound) => [
      `${name}_bucket{${labels},le="${bound === Number.POSITIVE_INFINITY ? '+Inf' : bound}"}`,
      grows(bound >= le ? count : 0),
    ]),
  );

const place = 'node="n1",directory="/srv"';
const space = (size: number, allocated: number, free: number): Record<string, string> => ({
  [`stowage_volumes_size_bytes{${place}}`]: stays(size),
  [`stowage_directory_allocated_bytes{${place}}`]: stays(allocated),
  [`stowage_directory_free_bytes{${place}}`]: stays(free),
});
const wants = (desired: number, actual: number): Record<string, string> => {
  const name = 'attachdetach_controller_total_volumes{plugin_name="volume.stowage.dev"';
  return {
    [`${name},state="desired_state_of_world"}`]: stays(desired),
    [`${name},state="actual_state_of_world"}`]: stays(actual),
  };
};
const controller = 'controller="volume"';
const ofClass = 'class="fast",source="none"';
const AGE = 'stowage_informer_age_seconds{resource="volumes",instance="a"}';

export const ALERT_CASES: readonly AlertCase[] = [
  { alert: 'StowageDaemonAbsent', fires: { up: stays(1) }, rests: { [AGE]: stays(3) } },
  { alert: 'StowageDaemonDeaf', fires: { [AGE]: stays(200) }, rests: { [AGE]: stays(100) } },
  {
    alert: 'StowageApiCallsFail',
    fires: {
      'stowage_api_calls_total{verb="get",resource="nodes",code="none"}': grows(2),
      'stowage_api_calls_total{verb="get",resource="nodes",code="200"}': grows(10),
    },
    rests: {
      'stowage_api_calls_total{verb="get",resource="nodes",code="none"}': grows(1),
      'stowage_api_calls_total{verb="get",resource="nodes",code="404"}': grows(20),
      'stowage_api_calls_total{verb="patch",resource="nodes",code="409"}': grows(20),
    },
  },
  {
    alert: 'StowageApiCallsSlow',
    fires: observed('stowage_api_call_duration_seconds', 'verb="get",resource="nodes"', 10),
    // A watch may last long.
    rests: {
      ...observed('stowage_api_call_duration_seconds', 'verb="get",resource="nodes"', 0.5),
      ...observed('stowage_api_call_duration_seconds', 'verb="watch",resource="nodes"', 600),
    },
  },
  {
    alert: 'StowageQueueWaits',
    fires: { [`stowage_queue_oldest_age_seconds{${controller}}`]: stays(700) },
    rests: { [`stowage_queue_oldest_age_seconds{${controller}}`]: stays(500) },
  },
  {
    alert: 'StowageQueueGrows',
    fires: {
      [`stowage_queue_depth{${controller}}`]: stays(2000),
      [`stowage_queue_adds_total{${controller}}`]: grows(1),
    },
    rests: {
      [`stowage_queue_depth{${controller}}`]: stays(900),
      [`stowage_queue_adds_total{${controller}}`]: grows(1),
    },
  },
  {
    alert: 'StowageReconcilesFail',
    fires: {
      [`stowage_reconciles_total{${controller},result="error"}`]: grows(3),
      [`stowage_reconciles_total{${controller},result="success"}`]: grows(10),
    },
    rests: {
      [`stowage_reconciles_total{${controller},result="error"}`]: grows(1),
      [`stowage_reconciles_total{${controller},result="retry"}`]: grows(10),
    },
  },
  {
    alert: 'StowageReconcilesRepeat',
    fires: {
      [`stowage_queue_retries_total{${controller}}`]: grows(120),
      [`stowage_queue_adds_total{${controller}}`]: grows(200),
    },
    rests: {
      [`stowage_queue_retries_total{${controller}}`]: grows(120),
      [`stowage_queue_adds_total{${controller}}`]: grows(300),
      'stowage_queue_retries_total{controller="claim"}': grows(10),
      'stowage_queue_adds_total{controller="claim"}': grows(10),
    },
  },
  {
    alert: 'StowageReconcilesSlow',
    fires: observed('stowage_reconcile_duration_seconds', controller, 60),
    rests: observed('stowage_reconcile_duration_seconds', controller, 10),
  },
  {
    alert: 'StowageVolumesFailed',
    fires: { 'stowage_volumes{phase="Failed"}': stays(1) },
    rests: {
      'stowage_volumes{phase="Failed"}': stays(0),
      'stowage_volumes{phase="Pending"}': stays(5),
    },
  },
  {
    alert: 'StowageJobsFail',
    fires: { 'stowage_jobs_total{kind="PrepareVolume",transport="ssh",result="died"}': grows(1) },
    rests: {
      'stowage_jobs_total{kind="PrepareVolume",transport="ssh",result="succeeded"}': grows(9),
      'stowage_jobs_total{kind="PrepareVolume",transport="ssh",result="guarded"}': grows(9),
    },
  },
  {
    alert: 'StowageJobsSlow',
    fires: observed('stowage_job_duration_seconds', 'kind="PrepareVolume",transport="ssh"', 600),
    // A wipe may last as long as the disk needs.
    rests: {
      ...observed('stowage_job_duration_seconds', 'kind="PrepareVolume",transport="ssh"', 60),
      ...observed('stowage_job_duration_seconds', 'kind="UnprepareVolume",transport="ssh"', 7200),
    },
  },
  { alert: 'StowageDirectoryOverpromised', fires: space(100, 20, 70), rests: space(100, 20, 90) },
  { alert: 'StowageDirectoryFull', fires: space(100, 97, 3), rests: { ...space(97, 97, 3) } },
  {
    alert: 'StowageNodeUnseen',
    fires: { [`stowage_volumes_size_bytes{${place}}`]: stays(100) },
    rests: {
      ...space(100, 20, 90),
      'stowage_volumes_size_bytes{node="n2",directory=""}': stays(5),
    },
  },
  {
    alert: 'StowageAttachmentStuck',
    fires: { 'stowage_attachment_operation_oldest_age_seconds{kind="attach"}': stays(700) },
    rests: { 'stowage_attachment_operation_oldest_age_seconds{kind="attach"}': stays(500) },
  },
  {
    alert: 'StowageAttachmentsWait',
    fires: { 'stowage_attachment_operations{kind="attach",state="waiting"}': stays(200) },
    rests: {
      'stowage_attachment_operations{kind="attach",state="waiting"}': stays(50),
      'stowage_attachment_operations{kind="attach",state="running"}': stays(200),
    },
  },
  {
    alert: 'StowageAttachFails',
    fires: {
      'storage_operation_duration_seconds_count{volume_plugin="volume.stowage.dev",operation_name="volume_attach",status="fail-unknown"}':
        grows(1),
    },
    rests: {
      'storage_operation_duration_seconds_count{volume_plugin="volume.stowage.dev",operation_name="volume_attach",status="success"}':
        grows(5),
      'storage_operation_duration_seconds_count{volume_plugin="another",operation_name="volume_attach",status="fail-unknown"}':
        grows(5),
    },
  },
  { alert: 'StowageNotAttached', fires: wants(3, 2), rests: wants(3, 3) },
  {
    alert: 'StowageForcedDetach',
    fires: {
      'attach_detach_controller_attachdetach_controller_forced_detaches{reason="timeout"}':
        grows(1),
    },
    rests: {
      'attach_detach_controller_attachdetach_controller_forced_detaches{reason="timeout"}':
        stays(4),
    },
  },
  {
    alert: 'StowageClaimsFail',
    fires: { [`stowage_claims_total{${ofClass},result="failed"}`]: grows(1) },
    rests: { [`stowage_claims_total{${ofClass},result="succeeded"}`]: grows(9) },
  },
  {
    alert: 'StowageClaimsSlow',
    fires: observed('stowage_claim_seconds', ofClass, 600),
    rests: observed('stowage_claim_seconds', ofClass, 60),
  },
  {
    alert: 'StowageCrossNamespaceFails',
    fires: {
      'cross_namespace_persistentvolumeclaim_provision_failed_total{storage_class="fast"}':
        grows(1),
      'cross_namespace_persistentvolumeclaim_provision_total{storage_class="fast"}': stays(2),
    },
    rests: {
      'cross_namespace_persistentvolumeclaim_provision_failed_total{storage_class="fast"}':
        grows(1),
      'cross_namespace_persistentvolumeclaim_provision_total{storage_class="fast"}': grows(1),
    },
  },
  {
    alert: 'StowageSnapshotsFailing',
    fires: { 'stowage_snapshots{class="fast",state="failing"}': stays(1) },
    rests: { 'stowage_snapshots{class="fast",state="pending"}': stays(4) },
  },
  {
    alert: 'StowageSnapshotJobsFail',
    fires: {
      'stowage_snapshot_operations_total{operation="create",class="fast",result="failed"}':
        grows(1),
    },
    rests: {
      'stowage_snapshot_operations_total{operation="create",class="fast",result="succeeded"}':
        grows(9),
    },
  },
  {
    alert: 'StowageSnapshotsSlow',
    fires: observed(
      'stowage_snapshot_operation_seconds',
      'operation="create",class="fast",result="succeeded"',
      600,
    ),
    rests: observed(
      'stowage_snapshot_operation_seconds',
      'operation="create",class="fast",result="succeeded"',
      60,
    ),
  },
  {
    alert: 'StowagePopulationsWait',
    fires: { 'stowage_populations_in_flight{phase="Pending"}': stays(1) },
    rests: {
      'stowage_populations_in_flight{phase="Pending"}': stays(0),
      'stowage_populations_in_flight{phase="Running"}': stays(3),
    },
  },
  {
    alert: 'StowagePopulationsFail',
    fires: {
      'volume_populator_operation_count{operation_name="populate",result="error"}': grows(1),
    },
    rests: {
      'volume_populator_operation_count{operation_name="populate",result="success"}': grows(9),
    },
  },
  {
    alert: 'StowagePopulationsStall',
    fires: {
      'stowage_populations_in_flight_bytes{phase="Running"}': stays(2 ** 30),
      'stowage_populated_bytes_total{class="fast"}': stays(2 ** 30),
    },
    rests: {
      'stowage_populations_in_flight_bytes{phase="Running"}': stays(2 ** 30),
      'stowage_populations_in_flight_bytes{phase="Pending"}': stays(2 ** 30),
      'stowage_populated_bytes_total{class="fast"}': grows(2 ** 20),
    },
  },
  {
    alert: 'StowagePopulationsSlow',
    fires: observed(
      'volume_populator_operation_seconds',
      'operation_name="populate",result="success"',
      7200,
    ),
    rests: observed(
      'volume_populator_operation_seconds',
      'operation_name="populate",result="success"',
      600,
    ),
  },
  {
    alert: 'StowageUnknownDataSources',
    fires: { 'volume_data_source_validator_operation_count{result="invalid"}': grows(1) },
    rests: { 'volume_data_source_validator_operation_count{result="populator"}': grows(9) },
  },
];
