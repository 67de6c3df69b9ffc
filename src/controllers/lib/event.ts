export interface EventToTell {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}
