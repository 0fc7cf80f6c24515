#include <TMB.hpp>
template <class Type> Type objective_function<Type>::operator()() {
    DATA_VECTOR(time); DATA_VECTOR(running); DATA_MATRIX(X); DATA_MATRIX(Z);
    PARAMETER(log_shape); PARAMETER(b0); PARAMETER_VECTOR(b);
    Type shape = exp(log_shape);
    Type log_p = 2 * log_shape - shape + dnorm(b0, Type(0), Type(2.5), true) + sum(dnorm(b, Type(0), Type(2.5), true));
    vector<Type> died = X * b + b0, ran = Z * b + b0;
    for (int i = 0; i < time.size(); i++) log_p += log_shape + died(i) + (shape - 1) * log(time(i)) - exp(died(i) + shape * log(time(i)));
    for (int i = 0; i < running.size(); i++) log_p -= exp(ran(i) + shape * log(running(i)));
    ADREPORT(shape); ADREPORT(b0); ADREPORT(b);
    return -log_p;
}
