package glaive.peer;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.apache.flink.api.java.tuple.Tuple;

/** Reads CSV files that Glaive exports, and writes rows as CSV. No text in these has a comma or a quotation mark. */
final class CsvFile {
    private CsvFile() {}

    /** Hands over the chosen columns of each record of a file with a header. */
    static void read(Path file, Consumer<String[]> take, String... columns) throws IOException, Failure {
        try (BufferedReader lines = Files.newBufferedReader(file)) {
            String header = lines.readLine();
            List<String> names = header == null ? List.of() : List.of(split(header));
            int[] places = Arrays.stream(columns).mapToInt(names::indexOf).toArray();
            for (int column = 0; column < columns.length; ++column) {
                if (places[column] < 0) {
                    throw new Failure(file + " has no column " + columns[column]);
                }
            }
            long number = 2;
            for (String line = lines.readLine(); line != null; line = lines.readLine(), ++number) {
                String[] fields = split(line);
                if (fields.length != names.size()) {
                    throw new Failure(file + ", line " + number + ": a record of " + fields.length + " fields");
                }
                try {
                    take.accept(Arrays.stream(places).mapToObj(place -> fields[place]).toArray(String[]::new));
                } catch (IllegalArgumentException error) {
                    throw new Failure(file + ", line " + number + ": " + error.getMessage());
                }
            }
        }
    }

    /** The fields of a line, without the quotation marks around texts. */
    private static String[] split(String line) {
        return line.replace("\"", "").split(",", -1);
    }

    /** Writes rows, which are tuples or Java's records. */
    static void write(Path file, List<Object> rows) throws IOException, ReflectiveOperationException {
        try (BufferedWriter out = Files.newBufferedWriter(file)) {
            for (Object row : rows) {
                String separator = "";
                for (Object cell : cells(row)) {
                    out.write(separator);
                    out.write(cell.toString());
                    separator = ",";
                }
                out.write('\n');
            }
        }
    }

    private static List<Object> cells(Object row) throws ReflectiveOperationException {
        List<Object> cells = new ArrayList<>();
        if (row instanceof Tuple tuple) {
            for (int place = 0; place < tuple.getArity(); ++place) {
                cells.add(tuple.getField(place));
            }
        } else {
            for (RecordComponent component : row.getClass().getRecordComponents()) {
                cells.add(component.getAccessor().invoke(row));
            }
        }
        return cells;
    }
}
