/* A small block pool that speaks blockpool-pipe/1: what a port in another language looks like to the oracle.
 *
 *   cc -o subject tests/proofs/oracle/subject.c
 *   blockpool drive --profile order-a -- ./subject
 *
 * With -DDOUBLE_RELEASE it has the defect that several real pools had: a release first drops all references and then
 * queues every block it was told that has none left, so a block named twice by its two holders is queued twice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 4096
#define LINE 1000000

static int size, count;                    /* blocks that can be lent: 1..size; how many are queued */
static int refs[MOST + 1], queue[2 * MOST + 2]; /* the queue, next victim first */
static char keys[MOST + 1][200];           /* the key of each block, "" for none */
static long since[MOST + 1], now;           /* when it was published */

static void start(int blocks) {
    size = count = blocks;
    for (int block = 1; block <= size; block++) {
        refs[block] = 0;
        keys[block][0] = 0;
        queue[block - 1] = block;
    }
}

static void take_out(int block) {
    for (int i = 0; i < count; i++)
        if (queue[i] == block) {
            memmove(queue + i, queue + i + 1, (size_t)(count - i - 1) * sizeof *queue);
            count--;
            return;
        }
}

/* --- the little of JSON that a line of the protocol needs; the oracle sends no escapes in names of operations --- */

static const char *field(const char *line, const char *name) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", name);
    const char *found = strstr(line, quoted);
    return found ? found + strlen(quoted) : NULL;
}

static int number(const char *line, const char *name) {
    const char *at = field(line, name);
    return at ? atoi(at) : 0;
}

static int blocks_named(const char *line, int *found) {
    const char *at = field(line, "blocks");
    if (!at || *at != '[') return 0;
    int n = 0;
    for (at++; *at && *at != ']' && n < MOST; n++) {
        char *end;
        found[n] = (int)strtol(at, &end, 10);
        if (end == at) return n; /* not a number: a name that is none of ours */
        at = *end == ',' ? end + 1 : end;
    }
    return n;
}

static void copy_string(const char *at, char *to) {
    int n = 0;
    while (*at && *at != '"') at++;
    for (at++; *at && *at != '"' && n < 199; at++) to[n++] = *at;
    to[n] = 0;
}

/* --- the operations --- */

static int all_known(const int *named, int n) {
    for (int i = 0; i < n; i++)
        if (named[i] < 1 || named[i] > size) return 0;
    return 1;
}

static void alloc(int wanted) {
    if (wanted < 0) { puts("{\"refused\":\"bad count\"}"); return; }
    if (wanted > count) { puts("{\"refused\":\"not enough free blocks\"}"); return; }
    printf("{\"ok\":[");
    for (int i = 0; i < wanted; i++) {
        int block = queue[0];
        take_out(block);
        refs[block] = 1;
        keys[block][0] = 0;
        printf(i ? ",%d" : "%d", block);
    }
    puts("]}");
}

static void share(const int *named, int n) {
    if (!all_known(named, n)) { puts("{\"refused\":\"unknown block\"}"); return; }
    for (int i = 0; i < n; i++)
        if (refs[named[i]]++ == 0) take_out(named[i]);
    puts("{\"ok\":null}");
}

static void give_back(const int *named, int n) {
    if (!all_known(named, n)) { puts("{\"refused\":\"unknown block\"}"); return; }
    for (int i = 0; i < n; i++) {
        int times = 0;
        for (int j = 0; j < n; j++) times += named[j] == named[i];
        if (times > refs[named[i]]) { puts("{\"refused\":\"not held\"}"); return; }
    }
#ifdef DOUBLE_RELEASE
    for (int i = 0; i < n; i++) refs[named[i]]--;
    for (int i = 0; i < n; i++)
        if (refs[named[i]] == 0 && count < 2 * MOST) queue[count++] = named[i];
#else
    for (int i = 0; i < n; i++)
        if (--refs[named[i]] == 0) queue[count++] = named[i];
#endif
    puts("{\"ok\":null}");
}

static void publish(const char *line, const int *named, int n) {
    if (!all_known(named, n)) { puts("{\"refused\":\"unknown block\"}"); return; }
    for (int i = 0; i < n; i++)
        if (refs[named[i]] == 0 || keys[named[i]][0]) { puts("{\"refused\":\"not held, or keyed\"}"); return; }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (named[i] == named[j]) { puts("{\"refused\":\"repeated block\"}"); return; }
    const char *at = field(line, "keys");
    for (int i = 0; at && i < n; i++) {
        copy_string(at, keys[named[i]]);
        since[named[i]] = ++now;
        at = strchr(strchr(at, '"') + 1, '"') + 1;
    }
    puts("{\"ok\":null}");
}

static void lookup(const char *line) {
    char key[200];
    copy_string(field(line, "key"), key);
    int first = 0; /* of the blocks under the key the one that has carried it longest */
    for (int block = 1; block <= size; block++)
        if (!strcmp(keys[block], key) && (!first || since[block] < since[first])) first = block;
    if (first) printf("{\"ok\":[%d]}\n", first);
    else puts("{\"ok\":null}");
}

int main(void) {
    static char line[LINE];
    static int named[MOST];
    while (fgets(line, sizeof line, stdin)) {
        const char *op = field(line, "op");
        int n = blocks_named(line, named);
        if (!op) puts("{\"refused\":\"no operation\"}");
        else if (!strncmp(op, "\"hello\"", 7))
            puts("{\"ok\":{\"name\":\"subject.c\",\"profile\":\"order-a\",\"operations\":"
                 "[\"start\",\"alloc\",\"share\",\"free\",\"free_count\",\"publish\",\"lookup\"]}}");
        else if (!strncmp(op, "\"start\"", 7)) {
            int blocks = number(line, "blocks");
            if (blocks < 1 || blocks > MOST || number(line, "groups") > 1 || strstr(line, "\"caching\":false")) {
                puts("{\"refused\":\"one group, with caching, of 1 to 4096 blocks\"}");
            } else {
                start(blocks);
                printf("{\"ok\":{\"capacity\":%d}}\n", size);
            }
        }
        else if (!strncmp(op, "\"alloc\"", 7)) alloc(number(line, "count"));
        else if (!strncmp(op, "\"share\"", 7)) share(named, n);
        else if (!strncmp(op, "\"free\"", 6)) give_back(named, n);
        else if (!strncmp(op, "\"free_count\"", 12)) printf("{\"ok\":%d}\n", count);
        else if (!strncmp(op, "\"publish\"", 9)) publish(line, named, n);
        else if (!strncmp(op, "\"lookup\"", 8)) lookup(line);
        else puts("{\"refused\":\"unknown operation\"}");
        fflush(stdout);
    }
    return 0;
}
