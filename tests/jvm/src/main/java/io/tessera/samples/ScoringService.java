package io.tessera.samples;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * An HTTP service that scores vectors on the GPU, and its clients. {@code POST /score} takes numbers separated by
 * commas and answers the scores in the same form.
 *
 * <p>{@code requests N} sends itself N requests and ends. {@code bench CLIENTS} reads lines {@code go MILLISECONDS}, has that many clients
 * ask for that time, and answers each with a JSON object {@code {"requests": N, "ms": T, "right": true}}, until its standard input ends.
 */
public final class ScoringService implements AutoCloseable {
    private static final int WORKERS = 4;
    private static final int QUEUE = 64;

    private final ScoringModel model;
    private final ExecutorService workers = Executors.newFixedThreadPool(WORKERS);
    private final HttpServer server;
    private final HttpClient client = HttpClient.newHttpClient();

    private ScoringService() throws IOException {
        model = new ScoringModel(11);
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), QUEUE);
        server.setExecutor(workers);
        server.createContext("/score", this::handle);
        server.start();
    }

    /**
     * Runs the service.
     *
     * @param arguments {@code requests N} or {@code bench CLIENTS}
     */
    public static void main(String[] arguments) throws Exception {
        // Answers are small: the server's default would keep each back for the client's acknowledgement.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        boolean correct = true;
        try (ScoringService service = new ScoringService()) {
            int count = Integer.parseInt(arguments[1]);
            correct = arguments[0].equals("bench") ? service.bench(count) : service.requests(count);
        }
        System.exit(correct ? 0 : 1);
    }

    private void handle(HttpExchange exchange) throws IOException {
        try {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.US_ASCII);
            float[] features = numbers(body);
            boolean usable = features.length == ScoringModel.FEATURES;
            byte[] answer = (usable ? text(model.score(features)) : "features: " + ScoringModel.FEATURES)
                    .getBytes(StandardCharsets.US_ASCII);
            exchange.sendResponseHeaders(usable ? 200 : 400, answer.length);
            exchange.getResponseBody().write(answer);
        } finally {
            exchange.close();
        }
    }

    private boolean requests(int count) throws InterruptedException, ExecutionException {
        ExecutorService clients = Executors.newFixedThreadPool(WORKERS);
        List<Callable<Boolean>> tasks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long seed = i;
            tasks.add(() -> ask(seed));
        }
        int right = 0;
        for (Future<Boolean> answer : clients.invokeAll(tasks)) {
            right += answer.get() ? 1 : 0;
        }
        clients.shutdown();
        ResultLine.print("scoring service", right + " of " + count + " answers right", right == count);
        return right == count;
    }

    private boolean ask(long seed) throws IOException, InterruptedException {
        float[] features = ScoringModel.features(seed);
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + InetAddress.getLoopbackAddress()
                .getHostAddress() + ":" + server.getAddress().getPort() + "/score"))
                .POST(HttpRequest.BodyPublishers.ofString(text(features))).build();
        HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
        return response.statusCode() == 200 && Arrays.equals(numbers(response.body()), model.expected(features));
    }

    private boolean bench(int clients) throws IOException, InterruptedException, ExecutionException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        ExecutorService threads = Executors.newFixedThreadPool(clients);
        boolean all = true;
        System.out.println("{\"what\": \"ready\"}");
        for (String line = lines.readLine(); line != null && !line.isEmpty(); line = lines.readLine()) {
            long startNs = System.nanoTime();
            long untilNs = startNs + TimeUnit.MILLISECONDS.toNanos(Long.parseLong(line.substring("go ".length())));
            LongAdder answered = new LongAdder();
            List<Callable<Boolean>> tasks = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                long seed = i;
                tasks.add(() -> askUntil(untilNs, seed, answered));
            }
            boolean right = true;
            for (Future<Boolean> task : threads.invokeAll(tasks)) {
                right &= task.get();
            }
            double ms = (System.nanoTime() - startNs) / 1e6;
            all &= right;
            System.out.println(String.format(Locale.ROOT, "{\"requests\": %d, \"ms\": %.3f, \"right\": %b}",
                    answered.sum(), ms, right));
        }
        threads.shutdown();
        return all;
    }

    private boolean askUntil(long untilNs, long seed, LongAdder answered) throws IOException, InterruptedException {
        boolean right = true;
        while (System.nanoTime() - untilNs < 0) {
            right &= ask(seed);
            answered.increment();
        }
        return right;
    }

    private static String text(float[] numbers) {
        StringBuilder text = new StringBuilder();
        for (float number : numbers) {
            text.append(text.length() == 0 ? "" : ",").append(number);
        }
        return text.toString();
    }

    private static float[] numbers(String text) {
        String[] parts = text.split(",");
        float[] numbers = new float[parts.length];
        for (int i = 0; i < parts.length; i++) {
            numbers[i] = Float.parseFloat(parts[i]);
        }
        return numbers;
    }

    /** Ends the service and frees what the model has on the device. */
    @Override
    public void close() {
        server.stop(0);
        workers.shutdown();
        model.close();
    }
}
