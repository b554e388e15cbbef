package io.tessera.samples;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
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
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * An HTTP service that scores vectors on the GPU, and its clients. {@code POST /score} takes numbers separated by
 * commas and answers the scores in the same form.
 *
 * <p>{@code requests N} asks itself so often and ends. {@code load SECONDS CLIENTS} does so for some seconds and prints
 * a line with each second's requests. {@code serve} prints its port and runs until its standard input ends.
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
     * @param arguments {@code requests N}, {@code load SECONDS CLIENTS} or {@code serve}
     */
    public static void main(String[] arguments) throws Exception {
        // Answers are small: the server's default would keep each back for the client's acknowledgement.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        boolean correct = true;
        try (ScoringService service = new ScoringService()) {
            switch (arguments[0]) {
                case "requests":
                    correct = service.requests(Integer.parseInt(arguments[1]));
                    break;
                case "load":
                    correct = service.load(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
                    break;
                case "serve":
                    System.out.println("port " + service.server.getAddress().getPort());
                    while (System.in.read() >= 0) {
                        continue; // whoever started it says when to end
                    }
                    break;
                default:
                    throw new IllegalArgumentException(arguments[0] + " is none of requests, load, serve");
            }
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
        Verdict.print("scoring service", right + " of " + count + " answers right", right == count);
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

    /** Prints {@code SECOND REQUESTS} each second, so that whoever measures chooses his window. */
    private boolean load(int seconds, int clients) throws InterruptedException, ExecutionException {
        LoadClock clock = new LoadClock(seconds);
        ExecutorService threads = Executors.newFixedThreadPool(clients);
        List<Future<Boolean>> answers = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            long seed = i;
            answers.add(threads.submit(() -> {
                boolean right = true;
                while (clock.running()) {
                    right &= ask(seed);
                    clock.counted();
                }
                return right;
            }));
        }
        clock.print();
        boolean right = true;
        for (Future<Boolean> answer : answers) {
            right &= answer.get();
        }
        threads.shutdown();
        Verdict.print("scoring service", "answers under load", right);
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
