// How does anything that streams look to a script? One shape everywhere.

export interface StreamEvent {
  seq: number;
  at: string;
  type: string;
  data: Record<string, unknown>;
}
