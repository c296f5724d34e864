package compat;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.util.Arrays;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.Test;

public class MachineTest {
    @Test
    public void sums() {
        assertEquals(6, Sum.of(1, 2, 3));
    }

    @Test
    public void runsAProgram() throws Exception {
        Process p = new ProcessBuilder("sh", "-c", "echo 42").start();
        assertEquals("42\n", new String(p.getInputStream().readAllBytes()));
        assertEquals(0, p.waitFor());
    }

    @Test
    public void knowsItsProcess() {
        assertTrue(ProcessHandle.current().info().command().isPresent());
        assertTrue(Runtime.getRuntime().availableProcessors() > 0);
    }

    @Test
    public void allocates() {
        byte[][] all = new byte[64][];
        for (int i = 0; i < all.length; i++) Arrays.fill(all[i] = new byte[1 << 20], (byte) 1);
        assertEquals(64, all.length);
    }

    @Test
    public void mapsAFile() throws Exception {
        Path file = Files.createTempFile("compat", "");
        try (RandomAccessFile f = new RandomAccessFile(file.toFile(), "rw")) {
            f.setLength(1L << 30);
            f.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, 1L << 30).put(1 << 29, (byte) 7);
        }
        Files.delete(file);
    }

    @Test
    public void watchesADirectory() throws Exception {
        Path dir = Files.createTempDirectory("compat");
        try (var watcher = dir.getFileSystem().newWatchService()) {
            dir.register(watcher, StandardWatchEventKinds.ENTRY_CREATE);
            Files.createFile(dir.resolve("a"));
            assertTrue(watcher.poll(20, TimeUnit.SECONDS) != null);
        }
    }

    @Test
    public void serves() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket client = new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort());
                Socket served = server.accept()) {
            client.getOutputStream().write(42);
            assertEquals(42, served.getInputStream().read());
        }
    }

    @Test
    public void resolvesItsOwnName() throws Exception {
        InetAddress.getLocalHost();
    }

    @Test
    public void runsThreads() throws Exception {
        var pool = Executors.newFixedThreadPool(64);
        var all = new java.util.ArrayList<java.util.concurrent.Future<Integer>>();
        for (int i = 0; i < 64; i++) all.add(pool.submit(() -> 1));
        int sum = 0;
        for (var one : all) sum += one.get();
        pool.shutdown();
        assertEquals(64, sum);
    }
}
