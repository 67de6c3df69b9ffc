export interface EventToSend {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}
