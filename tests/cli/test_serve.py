"""The server of ``survey serve``."""

from survey.cli.operations import production_server


def test_a_second_signal_is_not_handled_while_the_first_is():
    server = production_server("127.0.0.1", 5000, workers=2)
    interrupted = []

    class MainLoop:
        def set(self):
            interrupted.append(True)
            # A second Ctrl-C comes while the lock of the first is held.
            server.signal_handler_interrupt()

    server.main_loop_interrupt = MainLoop()
    server.signal_handler_interrupt()
    assert interrupted == [True]
