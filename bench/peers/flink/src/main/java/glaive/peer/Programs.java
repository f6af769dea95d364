package glaive.peer;

import java.io.IOException;
import java.nio.file.Path;

/** The programs by their names. */
final class Programs {
    private Programs() {}

    /** Reads a program's file into memory. */
    static Program load(String name, Path file, int threads) throws IOException, Failure {
        return switch (name) {
            case "ysb" -> AdEvents.keyed(file, threads);
            case "ysb-yahoo" -> AdEvents.joined(file, threads);
            case "nb7" -> Bids.load(file, threads);
            case "nb8" -> Auctions.load(file, threads);
            case "cm" -> TaskEvents.load(file, threads);
            case "associative" -> Words.load(file, threads);
            case "q0" -> Nexmark.bids(file, threads);
            case "q1" -> Nexmark.euros(file, threads);
            case "q2" -> Nexmark.selected(file, threads);
            default -> throw new Failure("there is no program '" + name + "'");
        };
    }
}
