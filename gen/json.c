#include "json.h"

bool json_add(cJSON *object, const char *name, cJSON *item) {
    if (item && cJSON_AddItemToObject(object, name, item))
        return true;
    cJSON_Delete(item);
    return false;
}

void json_put_number(struct json *json, cJSON *to, const char *name, double value) {
    json->failed = cJSON_AddNumberToObject(to, name, value) == NULL || json->failed;
}

void json_put_rounded(struct json *json, cJSON *to, const char *name, double value) {
    json_put_number(json, to, name, (double)(long long)(value * 100 + 0.5) / 100);
}

void json_put_string(struct json *json, cJSON *to, const char *name, const char *value) {
    json->failed = cJSON_AddStringToObject(to, name, value) == NULL || json->failed;
}

void json_put_bool(struct json *json, cJSON *to, const char *name, bool value) {
    json->failed = cJSON_AddBoolToObject(to, name, value) == NULL || json->failed;
}

void json_put_null(struct json *json, cJSON *to, const char *name) {
    json->failed = cJSON_AddNullToObject(to, name) == NULL || json->failed;
}

cJSON *json_put_object(struct json *json, cJSON *to, const char *name) {
    cJSON *object = cJSON_AddObjectToObject(to, name);
    json->failed = object == NULL || json->failed;
    return object;
}

cJSON *json_put_array(struct json *json, cJSON *to, const char *name) {
    cJSON *array = cJSON_AddArrayToObject(to, name);
    json->failed = array == NULL || json->failed;
    return array;
}

cJSON *json_append(struct json *json, cJSON *array, cJSON *item) {
    if (item == NULL || !cJSON_AddItemToArray(array, item)) {
        cJSON_Delete(item);
        json->failed = true;
        return NULL;
    }
    return item;
}

bool json_print(cJSON *root, bool done, struct text *out) {
    char *printed = done ? cJSON_Print(root) : NULL;
    if (printed)
        text_printf(out, "%s\n", printed);
    bool written = printed && !out->failed;
    cJSON_free(printed);
    cJSON_Delete(root);
    return written;
}
