/** A socket to a server that a test plays, which acknowledges by itself. */
export class TestSocket {
  static readonly CONNECTING = 0;
  static readonly OPEN = 1;
  static readonly CLOSING = 2;
  static readonly CLOSED = 3;
  /** All that were opened. */
  static opened: TestSocket[] = [];
  readyState = 0;
  subscribed: any[] = [];
  onopen?: () => void;
  onclose?: (event: object) => void;
  onmessage?: (event: { data: string }) => void;

  constructor() {
    TestSocket.opened.push(this);
    setTimeout(() => {
      this.readyState = 1;
      this.onopen?.();
    });
  }
  send(text: string) {
    const message = JSON.parse(text);
    if (message.type === 'connection_init') {
      setTimeout(() => this.hear({ type: 'connection_ack' }));
    }
    if (message.type === 'ping') setTimeout(() => this.hear({ type: 'pong' }));
    if (message.type === 'subscribe') this.subscribed.push(message);
  }
  close() {
    this.readyState = 3;
  }
  /** Has the server say something about the last subscription. */
  says(type: string, payload: unknown) {
    this.hear({ id: this.subscribed.at(-1).id, type, payload });
  }
  breaks() {
    this.readyState = 3;
    this.onclose?.({ code: 1006, reason: '', wasClean: false });
  }
  private hear(message: object) {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
}
