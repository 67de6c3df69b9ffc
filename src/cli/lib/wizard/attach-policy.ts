export const ATTACH_POLICY = {
  of: 'attachPolicy',
  message: 'When the device is on its node:',
  names: { Always: 'always', OnDemand: 'while a pod needs it' },
} as const;
