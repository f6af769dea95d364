package glaive.peer;

/** An error of the command line or of its files. Its message is all that the user needs. */
final class Failure extends Exception {
    private static final long serialVersionUID = 1;

    Failure(String message) {
        super(message);
    }
}
